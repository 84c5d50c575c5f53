// UsePeriods give each entity the time of its last use, without a look at a clock at each use. Time is divided into periods,
// which the runs of the passivation end. An entity remembers the period of its last use, and counts as used until the end of
// that period.

export interface UsePeriod {
  /** End of the period by the monotonic clock; Infinity while it lasts. */
  endMs: number;
}

export class UsePeriods {
  #current: UsePeriod = { endMs: Infinity };

  /** The period that lasts. */
  get current(): UsePeriod {
    return this.#current;
  }

  /** Ends the period that lasts. The next one begins. */
  end(monotonicMs: number): void {
    this.#current.endMs = monotonicMs;
    this.#current = { endMs: Infinity };
  }
}
