// TokenBucket limits how many actions are started in a second: `perSecond` on average, and at most a tenth of them (but
// one at least) at once after a rest.

export class TokenBucket {
  readonly #perSecond: number;
  readonly #capacity: number;
  #tokens: number;
  #countedMs: number;

  /** `monotonicMs`: the present time of a clock that never goes back. */
  constructor(perSecond: number, monotonicMs: number) {
    this.#perSecond = perSecond;
    this.#capacity = Math.max(1, perSecond / 10);
    this.#tokens = this.#capacity;
    this.#countedMs = monotonicMs;
  }

  /** Takes a token, and returns whether there was one. */
  take(monotonicMs: number): boolean {
    this.#refill(monotonicMs);
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Returns after how many whole milliseconds there is a token; 0: there is one now. */
  waitMs(monotonicMs: number): number {
    this.#refill(monotonicMs);
    return Math.max(0, Math.ceil(((1 - this.#tokens) * 1000) / this.#perSecond));
  }

  #refill(monotonicMs: number): void {
    const gained = ((monotonicMs - this.#countedMs) * this.#perSecond) / 1000;
    this.#tokens = Math.min(this.#capacity, this.#tokens + gained);
    this.#countedMs = monotonicMs;
  }
}
