// FailurePauses are the pauses after which a view is opened again. They double while failures follow one another.

/** Shortest and longest pause, in milliseconds. */
const PAUSE_MIN_MS = 1_000;
const PAUSE_MAX_MS = 60_000;

export class FailurePauses {
  #pauseMs = PAUSE_MIN_MS;
  #lastReason: string | undefined;

  /** `isNew`: the failure is another one than the last. */
  next(reason: string): { readonly pauseMs: number; readonly isNew: boolean } {
    const pauseMs = this.#pauseMs;
    const isNew = reason !== this.#lastReason;
    this.#lastReason = reason;
    this.#pauseMs = Math.min(pauseMs * 2, PAUSE_MAX_MS);
    return { pauseMs, isNew };
  }

  /** Called when there was no failure. Returns whether there was one before. */
  ended(): boolean {
    const hadFailed = this.#lastReason !== undefined;
    this.#pauseMs = PAUSE_MIN_MS;
    this.#lastReason = undefined;
    return hadFailed;
  }
}
