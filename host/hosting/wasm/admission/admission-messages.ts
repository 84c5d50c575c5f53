// Messages from the admission thread. The thread is started with the limits, and then receives the module's
// bytes.
import type { ModuleVerdict } from './admission.ts';

export type FromAdmission =
  /** The host's own code is loaded. The time limit for admission starts now. */
  | { readonly kind: 'begun' }
  /** `tookMs` is measured in the thread: the thread that enforces the deadline may have been blocked. */
  | { readonly kind: 'judged'; readonly verdict: ModuleVerdict; readonly tookMs: number };
