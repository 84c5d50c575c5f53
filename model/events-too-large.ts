// The refusal of a command whose events exceed the size that may be stored. Their size depends on the caller's input
// and on the state: neither is a fault of the module.
import { type Refusal, refusal } from './call.ts';

/** Creates the refusal. `reason`: what is too large, as the rest of a sentence. */
export function eventsTooLarge(reason: string): Refusal {
  return refusal(
    'UNPROCESSABLE',
    `what this command would store is too large: ${reason} (SVC_EVENT_TOO_LARGE)`,
  );
}
