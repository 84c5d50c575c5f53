// LateHandler: a handler that was not done at the deadline of its request. Its caller is answered at once; the span of
// the request waits for the handler's end, which brings the last lines that the module has logged, and not for long:
// code of an embedding program may never end.
import { GuestFault } from '../model/guest-fault.ts';
import { SvcError } from '@svc/kit/svc-error';

/** How long the span of a late request waits for the end of its handler, in milliseconds. */
const HANDLER_END_MS = 200;

export class LateHandler {
  /** Why the calls of the handler fail from now on. */
  readonly reason: GuestFault;
  /** What the log says of the request. */
  readonly failure: SvcError;
  readonly #timer: NodeJS.Timeout;

  /** `record` is called unless the handler ends before; it calls `ended`. */
  constructor(answerTimeoutMs: number, record: () => void) {
    const late = `The handler was not done after ${answerTimeoutMs} ms, waiting included.`;
    this.reason = new GuestFault('time', late, { limit: 'request-time' });
    this.failure = timedOut(this.reason);
    this.#timer = setTimeout(record, HANDLER_END_MS).unref();
  }

  /** What the span says. `end`: how the handler ended, if it did. */
  ended(end: unknown): SvcError {
    clearTimeout(this.#timer);
    const hasEndedForIt = end instanceof GuestFault && end.limit === this.reason.limit;
    return hasEndedForIt ? timedOut(end) : this.failure;
  }
}

function timedOut(cause: GuestFault): SvcError {
  return new SvcError('SVC_ANSWER_TIMED_OUT', 'The handler took too long.', { cause });
}
