// FaultReport: what the log and the counters learn of a failure. One failure may come by several times, from
// the entity that failed, from the request that failed for it, and as the cause of another failure: it is
// counted once, and what the module said of it stands in the log once.
import type { LimitCounters } from './limit-counters.ts';
import { GuestFault, type WasmFrame } from './guest-fault.ts';
import { SvcError } from '@svc/kit/svc-error';

type Fields = Readonly<Record<string, string>>;

export class FaultReport {
  readonly #counters: LimitCounters;
  /** Failures that came by, with what they come of. */
  readonly #known = new WeakSet<object>();
  /** Of these, those of which the log has what the module said. */
  readonly #told = new WeakSet<object>();

  constructor(counters: LimitCounters) {
    this.#counters = counters;
  }

  /** Counts a failure, and gives what the log keeps of it. */
  fields(failure: unknown): Fields {
    if (failure instanceof GuestFault) {
      const { faultCause, limit, message } = failure;
      const guestMessage = this.#told.has(failure) ? undefined : failure.guestMessage;
      if (this.#isNew(failure)) this.#count(failure);
      return {
        code: faultCause,
        ...(limit === undefined ? {} : { limit }),
        reason: message,
        ...(guestMessage === undefined ? {} : { guestMessage }),
      };
    }
    if (failure instanceof SvcError) {
      if (this.#isNew(failure)) {
        this.#counters.count(`failure:${failure.code}`);
        if (failure.cause instanceof GuestFault) this.#count(failure.cause);
      }
      return { code: failure.code, reason: failure.message };
    }
    return {
      code: 'bug',
      reason: failure instanceof Error ? (failure.stack ?? failure.message) : String(failure),
    };
  }

  /** Where the module's code was. */
  frames(failure: unknown): readonly WasmFrame[] | undefined {
    if (failure instanceof GuestFault) return failure.frames;
    return failure instanceof SvcError && failure.cause instanceof GuestFault
      ? failure.cause.frames
      : undefined;
  }

  /** Counts a failure of which another shard tells the log. Says whether the log has what the module said of it. */
  passedOn(failure: unknown): boolean {
    const isTold = !(failure instanceof GuestFault) || this.#told.has(failure);
    this.fields(failure);
    return isTold;
  }

  /** Another shard has counted it. `isTold`: the log has what the module said of it. */
  isKnown(failure: Error, isTold: boolean): void {
    this.#known.add(failure);
    if (isTold) this.#told.add(failure);
  }

  #count({ faultCause, limit }: GuestFault): void {
    this.#counters.count(`fault:${faultCause}`);
    if (limit !== undefined) this.#counters.count(`limit:${limit}`);
  }

  /** Whether neither it nor what it comes of has come by before. */
  #isNew(failure: Error): boolean {
    let isNew = true;
    let link: unknown = failure;
    while (link instanceof GuestFault || link instanceof SvcError) {
      if (this.#known.has(link)) isNew = false;
      this.#known.add(link);
      this.#told.add(link);
      link = link.cause;
    }
    return isNew;
  }
}
