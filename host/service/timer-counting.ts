// TimerCounting counts the timers of a journal again and again, for the metrics. Invariant: it takes at most a
// hundredth of its thread's time, however many timers there are.
import type { Awaitable } from '@svc/model/call';
import type { TimerCounts, TimerSeries } from '../storage/timer-series.ts';
import { systemClock } from '../system.ts';

/** Shortest pause between two counts, in milliseconds. */
const PAUSE_MS = 2_000;
/** A pause is at least this many times as long as the count before it. */
const PAUSE_FACTOR = 100;

export interface TimerCountingOptions {
  /** Counts the timers. It may throw or reject. */
  readonly counts: () => Awaitable<TimerCounts>;
  readonly series: TimerSeries;
  /** Wall clock by which timers are due. Default: the machine's. */
  readonly nowMs?: () => number;
  /** Receives what `counts` throws. The next count follows all the same. */
  readonly onFailure: (error: unknown) => void;
}

export class TimerCounting {
  readonly #options: TimerCountingOptions;
  #pause: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(options: TimerCountingOptions) {
    this.#options = options;
  }

  /** Counts at once, and from then on. */
  start(): void {
    void this.#count();
  }

  /** Ends the counting. A count in progress is discarded. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#pause);
  }

  async #count(): Promise<void> {
    const { counts, series, nowMs = () => systemClock.nowMs(), onFailure } = this.#options;
    const beganMs = performance.now();
    try {
      const counted = await counts();
      if (this.#isStopped) return;
      series.counted(counted, nowMs());
    } catch (error) {
      if (this.#isStopped) return;
      onFailure(error);
    }
    const tookMs = performance.now() - beganMs;
    this.#pause = setTimeout(() => this.start(), Math.max(PAUSE_MS, tookMs * PAUSE_FACTOR)).unref();
  }
}
