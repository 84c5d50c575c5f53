// ConnectionTimers are the timers of a connection that this node has made: when another one is made instead, and when it is ended in any case.
//
// Invariant: the end never moves to a later time.

export class ConnectionTimers {
  #renewal: NodeJS.Timeout | undefined;
  #end: NodeJS.Timeout | undefined;
  #endsAtMs = Infinity;

  /** Calls `renew` after a time. */
  renewAfter(ms: number, renew: () => void): void {
    clearTimeout(this.#renewal);
    this.#renewal = setTimeout(renew, ms).unref();
  }

  /** Calls `end` after a time, unless it is called before anyway. */
  endWithin(ms: number, end: () => void): void {
    const endsAtMs = performance.now() + ms;
    if (endsAtMs >= this.#endsAtMs) return;
    clearTimeout(this.#end);
    this.#endsAtMs = endsAtMs;
    this.#end = setTimeout(end, ms).unref();
  }

  /** Forgets both: the connection has ended. */
  clear(): void {
    clearTimeout(this.#renewal);
    clearTimeout(this.#end);
    this.#endsAtMs = Infinity;
  }
}
