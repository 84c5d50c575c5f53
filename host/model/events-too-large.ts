// The refusal of a command whose events are more than may be stored. How large they are follows from what the
// caller sent, and from the state: neither is a fault of the module.
import { type Refusal, refusal } from './call.ts';

/** `reason`: what is too large, as the rest of a sentence. */
export function eventsTooLarge(reason: string): Refusal {
  return refusal(
    'UNPROCESSABLE',
    `what this command would store is too large: ${reason} (SVC_EVENT_TOO_LARGE)`,
  );
}
