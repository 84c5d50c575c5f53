// NewestSpans: which spans of several shards are in the one window of the service: those that ended last. Each shard
// keeps as many as the whole window holds, since all of the load may be on one of them.

/** The spans that a shard keeps. */
export interface EndedSpans {
  /** How many there are. */
  readonly kept: number;
  /** When a span ended, in milliseconds since 1970. `age`: 0 is the newest, and `kept - 1` the oldest. */
  endMs(age: number): number;
}

/** How many of its newest spans each shard has in a window of `capacity`. */
export function newestCounts(shards: readonly EndedSpans[], capacity: number): number[] {
  const counts = shards.map(({ kept }) => Math.min(kept, capacity));
  let sum = counts.reduce((total, count) => total + count, 0);
  // The oldest leave until the rest fits.
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

/** End of the oldest one of so many. */
function endOf(shard: EndedSpans, count: number): number {
  return count === 0 ? Infinity : shard.endMs(count - 1);
}
