// FaultReport: counts failures, and returns the fields with which the log reports them. One failure may be reported
// several times: by the entity that failed, by the request that failed because of it, and as the cause of another
// failure. It is counted once, and the module's message appears in the log once.
import type { LimitCounters } from './limit-counters.ts';
import { GuestFault, type WasmFrame } from './guest-fault.ts';
import { SvcError } from '@svc/kit/svc-error';

type Fields = Readonly<Record<string, string>>;

export class FaultReport {
  readonly #counters: LimitCounters;
  /** Failures that were counted, and their causes. */
  readonly #known = new WeakSet<object>();
  /** Failures whose guest message is in the log. */
  readonly #logged = new WeakSet<object>();

  constructor(counters: LimitCounters) {
    this.#counters = counters;
  }

  /**
   * Returns the fields of the failure's log entry. Counts the failure unless it was counted before, or is neither a
   * GuestFault nor an SvcError.
   */
  fields(failure: unknown): Fields {
    if (failure instanceof GuestFault) {
      const { faultCause, limit, message } = failure;
      const guestMessage = this.#logged.has(failure) ? undefined : failure.guestMessage;
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

  /** Returns the code positions of the guest's fault, if the failure is one or was caused by one. */
  frames(failure: unknown): readonly WasmFrame[] | undefined {
    if (failure instanceof GuestFault) return failure.frames;
    return failure instanceof SvcError && failure.cause instanceof GuestFault
      ? failure.cause.frames
      : undefined;
  }

  /**
   * Counts a failure that another shard logs. Returns whether its guest message is already in the log; true for a
   * failure that is not a GuestFault.
   */
  passedOn(failure: unknown): boolean {
    const isLogged = !(failure instanceof GuestFault) || this.#logged.has(failure);
    this.fields(failure);
    return isLogged;
  }

  /** Notes that another shard has counted the failure. `isLogged`: its guest message is in the log. */
  isKnown(failure: Error, isLogged: boolean): void {
    this.#known.add(failure);
    if (isLogged) this.#logged.add(failure);
  }

  #count({ faultCause, limit }: GuestFault): void {
    this.#counters.count(`fault:${faultCause}`);
    if (limit !== undefined) this.#counters.count(`limit:${limit}`);
  }

  /** Returns whether neither the failure nor a cause of it was counted before. Marks them as counted and logged. */
  #isNew(failure: Error): boolean {
    let isNew = true;
    let link: unknown = failure;
    while (link instanceof GuestFault || link instanceof SvcError) {
      if (this.#known.has(link)) isNew = false;
      this.#known.add(link);
      this.#logged.add(link);
      link = link.cause;
    }
    return isNew;
  }
}
