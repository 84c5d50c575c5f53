// FailureReports passes failures of a background job on to the log: each text at most once in a while, because a job that cannot
// go on fails again and again.
import type { MonotonicClock } from '../engine/needs/clock.ts';

/** A text is reported again after this many milliseconds. */
const AGAIN_MS = 60_000;
/** Maximum number of texts that are remembered. */
const TEXTS_MAX = 100;

export class FailureReports {
  readonly #clock: MonotonicClock;
  readonly #report: (message: string) => void;
  /** The texts that were reported lately, with the time of the report by the monotonic clock, oldest first. */
  readonly #reported = new Map<string, number>();

  constructor(clock: MonotonicClock, report: (message: string) => void) {
    this.#clock = clock;
    this.#report = report;
  }

  add(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    const nowMs = this.#clock.monotonicMs();
    const lastMs = this.#reported.get(message);
    if (lastMs !== undefined && nowMs - lastMs < AGAIN_MS) return;
    this.#reported.delete(message);
    this.#reported.set(message, nowMs);
    if (this.#reported.size > TEXTS_MAX) this.#reported.delete(this.#reported.keys().next().value!);
    this.#report(message);
  }
}
