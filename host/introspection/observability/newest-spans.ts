// NewestSpans selects the spans of several shards that are in the service's window: those that ended last. Each shard
// keeps up to as many spans as the whole window, since all of the load may be on one shard.

/** Spans of one shard. */
export interface EndedSpans {
  /** Number of spans that the shard keeps. */
  readonly kept: number;
  /** Returns when a span ended, in milliseconds since 1970. `age`: 0 is the newest, and `kept - 1` the oldest. */
  endMs(age: number): number;
}

/** Returns for each shard how many of its newest spans are in a window of `capacity` spans. */
export function newestCounts(shards: readonly EndedSpans[], capacity: number): number[] {
  const counts = shards.map(({ kept }) => Math.min(kept, capacity));
  let sum = counts.reduce((total, count) => total + count, 0);
  // The oldest spans are removed until the rest fits.
  const oldestMs = counts.map((count, shard) => endOf(shards[shard]!, count));
  for (; sum > capacity; sum--) {
    let oldest = 0;
    for (let shard = 1; shard < counts.length; shard++)
      if (oldestMs[shard]! < oldestMs[oldest]!) oldest = shard;
    counts[oldest]! -= 1;
    oldestMs[oldest] = endOf(shards[oldest]!, counts[oldest]!);
  }
  return counts;
}

/** Returns when the oldest of the shard's `count` newest spans ended; Infinity if `count` is 0. */
function endOf(shard: EndedSpans, count: number): number {
  return count === 0 ? Infinity : shard.endMs(count - 1);
}
