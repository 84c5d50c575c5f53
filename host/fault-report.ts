// FaultReport: what the log and the counters learn of a failure. One failure may come by twice, from the
// entity that failed and from the request that failed for it: it is counted once, and what the module
// said of it stands in the log once.
import type { LimitCounters } from './limit-counters.ts';
import { GuestFault } from './model/guest-fault.ts';
import { SvcError } from './model/svc-error.ts';

type Fields = Readonly<Record<string, string>>;

export class FaultReport {
  readonly #counters: LimitCounters;
  readonly #seen = new WeakSet<object>();

  constructor(counters: LimitCounters) {
    this.#counters = counters;
  }

  /** Counts a failure, and gives what the log keeps of it. */
  fields(failure: unknown): Fields {
    if (failure instanceof GuestFault) {
      const { faultCause, limit, message, guestMessage } = failure;
      const isNew = this.#isNew(failure);
      if (isNew) {
        this.#counters.count(`fault:${faultCause}`);
        if (limit !== undefined) this.#counters.count(`limit:${limit}`);
      }
      return {
        code: faultCause,
        ...(limit === undefined ? {} : { limit }),
        reason: message,
        ...(guestMessage === undefined || !isNew ? {} : { guestMessage }),
      };
    }
    if (failure instanceof SvcError) {
      if (this.#isNew(failure)) {
        this.#counters.count(`failure:${failure.code}`);
        if (failure.code === 'SVC_ANSWER_TIMED_OUT') this.#counters.count('limit:request-time');
      }
      return { code: failure.code, reason: failure.message };
    }
    return {
      code: 'bug',
      reason: failure instanceof Error ? (failure.stack ?? failure.message) : String(failure),
    };
  }

  #isNew(failure: object): boolean {
    if (this.#seen.has(failure)) return false;
    this.#seen.add(failure);
    return true;
  }
}
