// LateHandler: a handler that was not done at the deadline of its request. The caller is answered at once. The span
// of the request waits for the end of the handler, whose failure has the last lines that the module logged. The wait
// is short, because the code of an embedding program may never end.
import { GuestFault } from '@svc/model/guest-fault';
import { SvcError } from '@svc/kit/svc-error';

/** How long the span of a late request waits for the end of its handler, in milliseconds. */
const HANDLER_END_MS = 200;

export class LateHandler {
  /** Error with which the handler's calls fail from the deadline on. */
  readonly reason: GuestFault;
  /** Failure that the caller's answer and the log line report. */
  readonly failure: SvcError;
  readonly #timer: NodeJS.Timeout;

  /** `record` is called after the wait, unless `ended` was called before, and has to call `ended`. */
  constructor(answerTimeoutMs: number, record: () => void) {
    const late = `The handler was not done after ${answerTimeoutMs} ms, waiting included.`;
    this.reason = new GuestFault('time', late, { limit: 'request-time' });
    this.failure = timedOut(this.reason);
    this.#timer = setTimeout(record, HANDLER_END_MS).unref();
  }

  /**
   * Ends the wait, and returns the failure for the span. `end`: the handler's refusal or error, if it ended with one.
   */
  ended(end: unknown): SvcError {
    clearTimeout(this.#timer);
    const isCausedByDeadline = end instanceof GuestFault && end.limit === this.reason.limit;
    return isCausedByDeadline ? timedOut(end) : this.failure;
  }
}

function timedOut(cause: GuestFault): SvcError {
  return new SvcError('SVC_ANSWER_TIMED_OUT', 'The handler took too long.', { cause });
}
