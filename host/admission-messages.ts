// What the thread that judges a module is given, and what it says.
import type { ModuleVerdict } from './hosting/wasm/admission.ts';
import type { WasmLimits } from './hosting/wasm/wasm-limits.ts';

export interface AdmissionRequest {
  readonly bytes: Uint8Array;
  readonly limits: WasmLimits;
}

export type FromAdmission =
  /** The host's own code is loaded; from here on the time is the module's. */
  | { readonly kind: 'begun' }
  /** With how long that took: who ends the thread may have been kept from looking at its clock. */
  | { readonly kind: 'judged'; readonly verdict: ModuleVerdict; readonly tookMs: number };
