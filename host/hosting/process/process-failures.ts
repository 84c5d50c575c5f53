// ProcessFailures: the errors of a process that cannot be reached, or that breaks the protocol.
import { SvcError } from '@svc/kit/svc-error';
import { GuestLost } from '@svc/model/guest-lost';

/** The most characters of what a process says of itself in a message. */
const WHY_MAX = 1_000;

const RETRY = { retryAfterMs: 1_000 };

/** The process cannot be reached. Nothing of the call was done. */
export class ProcessAway extends SvcError {
  /** The end of a sentence that begins with `The process`. */
  readonly why: string;

  constructor(why: string) {
    super('SVC_PROCESS_UNAVAILABLE', nothingDone(why), RETRY);
    this.why = why;
  }
}

/** The process was lost while a call was in it that has done nothing. */
export function lostInProcess(why: string): GuestLost {
  return new GuestLost('SVC_PROCESS_UNAVAILABLE', nothingDone(why), RETRY);
}

/** The handler had made calls when the process was lost. */
export function handlerUncertain(why: string): GuestLost {
  return new GuestLost(
    'SVC_CALL_UNCERTAIN',
    `The process that holds the code of the service ${why} while a handler was running that had made calls. ` +
      'It is not known what of them was done: look before you try again.',
  );
}

/** The process at the address cannot be served at all. */
export function processInvalid(address: string, why: string): SvcError {
  return new SvcError(
    'SVC_PROCESS_INVALID',
    `The process at ${address} cannot be served: ${why.slice(0, WHY_MAX)}`,
  );
}

function nothingDone(why: string): string {
  return `The process that holds the code of the service ${why}. Nothing was done: try again.`;
}
