// What the thread that judges a module says. It is started with the limits, and given the module's bytes.
import type { ModuleVerdict } from './admission.ts';

export type FromAdmission =
  /** The host's own code is loaded; from here on the time is the module's. */
  | { readonly kind: 'begun' }
  /** With how long that took: who ends the thread may have been kept from looking at its clock. */
  | { readonly kind: 'judged'; readonly verdict: ModuleVerdict; readonly tookMs: number };
