// LiveSamples holds, for each of the last SECONDS_KEPT seconds, the number of requests that route handlers ended, by
// outcome, and quantiles of their durations. A sample is the difference between the totals that the shards share and
// the totals at the previous sample.
import type { LiveSecond } from '@svc/contract';
import { histogramSince, quantile } from '@svc/model/shared-histogram';
import type { KindTotals } from '../../shards/recorder/invocation-totals.ts';
import { isoTime, rounded } from './trace-tree.ts';

const SECONDS_KEPT = 120;
const INTERVAL_MS = 1_000;
const MS_PER_S = 1_000;

export class LiveSamples {
  readonly #read: () => KindTotals;
  #seconds: LiveSecond[] = [];
  /** Totals at the latest sample. */
  #before: KindTotals;
  #timer: NodeJS.Timeout | undefined;

  /** `read`: returns the current totals of the endpoints. */
  constructor(read: () => KindTotals) {
    this.#read = read;
    this.#before = read();
  }

  /** Takes a sample every second until `stop`. */
  start(): void {
    this.#timer = setInterval(() => this.sample(Date.now()), INTERVAL_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Samples, oldest first. */
  get seconds(): readonly LiveSecond[] {
    return this.#seconds;
  }

  /** Takes a sample. `atMs`: milliseconds since 1970. */
  sample(atMs: number): void {
    const now = this.#read();
    const [ok = 0, refused = 0, failed = 0, timedOut = 0] = now.counts.map(
      (count, at) => count - this.#before.counts[at]!,
    );
    const took = histogramSince(now.seconds, this.#before.seconds);
    const quantileMs = (part: number) => {
      const seconds = quantile(took, part);
      return seconds === undefined ? null : rounded(seconds * MS_PER_S);
    };
    const second = {
      at: isoTime(atMs),
      requests: ok + refused + failed + timedOut,
      ok,
      refused,
      failed,
      timedOut,
      p50Ms: quantileMs(0.5),
      p95Ms: quantileMs(0.95),
      p99Ms: quantileMs(0.99),
    };
    this.#seconds = [...this.#seconds, second].slice(-SECONDS_KEPT);
    this.#before = now;
  }
}
