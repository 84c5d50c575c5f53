// SharedHistogram counts values by intervals, and adds them up, in memory that two threads share. One thread adds
// values; the other may read at any time, even while the first is busy. The counts survive the end of the first
// thread.

/**
 * Bounds for durations, from 10 microseconds to 80 seconds, in seconds. Each decade has ten bounds.
 * Neighbouring bounds differ by 20 to 33 %, which limits the error of a quantile.
 */
export const SECONDS_BOUNDS: readonly number[] = [1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10].flatMap(
  (decade) => [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8].map((step) => rounded(decade * step)),
);
/** Bounds for numbers of items: the powers of two from 1 to 4,096. */
export const COUNT_BOUNDS: readonly number[] = Array.from({ length: 13 }, (_, power) => 2 ** power);

export interface HistogramCounts {
  /** Inclusive upper bounds, ascending. */
  readonly bounds: readonly number[];
  /** Number of values in each interval that ends at a bound, followed by the number of values above all bounds. */
  readonly counts: readonly number[];
  readonly sum: number;
}

export class SharedHistogram {
  /** Memory to create the other thread's histogram with. */
  readonly shared: SharedArrayBuffer;
  readonly #bounds: readonly number[];
  readonly #sorted: Float64Array;
  /**
   * Leading bits of a value → index of the first bound that may contain it. A search would cost several times as
   * much.
   */
  readonly #firstOf: Uint8Array;
  /** The counts, followed by the sum. */
  readonly #numbers: Float64Array;

  /** `shared`: memory of another histogram with the same bounds. */
  constructor(bounds: readonly number[], shared?: SharedArrayBuffer) {
    this.#bounds = bounds;
    ({ sorted: this.#sorted, firstOf: this.#firstOf } = searchOf(bounds));
    const bytes = (bounds.length + 2) * Float64Array.BYTES_PER_ELEMENT;
    this.shared = shared ?? new SharedArrayBuffer(bytes);
    this.#numbers = new Float64Array(this.shared);
  }

  add(value: number): void {
    const sorted = this.#sorted;
    let at = this.#firstOf[leadingBits(value)]!;
    // At most one bound lies between values with the same leading bits, so the loop advances once at most.
    while (value > sorted[at]!) at++;
    this.#numbers[at]! += 1;
    this.#numbers[sorted.length + 1]! += value;
  }

  read(): HistogramCounts {
    const counts = [...this.#numbers.subarray(0, this.#sorted.length + 1)];
    return { bounds: this.#bounds, counts, sum: this.#numbers[this.#sorted.length + 1]! };
  }
}

/** Adds up histograms that have the same bounds. */
export function summedHistograms(
  bounds: readonly number[],
  all: readonly HistogramCounts[],
): HistogramCounts {
  const counts = Array.from({ length: bounds.length + 1 }, (_, at) =>
    all.reduce((sum, each) => sum + each.counts[at]!, 0),
  );
  return { bounds, counts, sum: all.reduce((sum, each) => sum + each.sum, 0) };
}

/** Returns the counts and the sum of the values that were added between two readings of a histogram. */
export function histogramSince(now: HistogramCounts, before: HistogramCounts): HistogramCounts {
  const counts = now.counts.map((count, at) => count - before.counts[at]!);
  return { bounds: now.bounds, counts, sum: now.sum - before.sum };
}

export function histogramCount({ counts }: HistogramCounts): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

/**
 * Returns the quantile `part`, from 0 to 1, assuming that values are spread evenly between two bounds. Returns the
 * largest bound if the quantile is above all bounds, and undefined if there are no values.
 */
export function quantile(histogram: HistogramCounts, part: number): number | undefined {
  const { bounds, counts } = histogram;
  const wanted = histogramCount(histogram) * part;
  let below = 0;
  for (const [at, count] of counts.entries()) {
    if (count === 0) continue;
    if (below + count >= wanted) {
      // No upper bound is known for these values.
      if (at === bounds.length) return bounds.at(-1);
      const low = at === 0 ? 0 : bounds[at - 1]!;
      return low + (bounds[at]! - low) * ((wanted - below) / count);
    }
    below += count;
  }
  return undefined;
}

const double = new Float64Array(1);
const words = new Uint32Array(double.buffer);
/** Index of the half of a double that has its sign and exponent. */
const UPPER = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1 ? 1 : 0;
/** Number of leading bits: the sign, the exponent, and three bits of the fraction. */
const LEADING_BITS = 15;
const LEADING_SHIFT = 32 - LEADING_BITS;

/** Returns the leading bits, which grow with the value if it is not negative. */
function leadingBits(value: number): number {
  double[0] = value;
  return words[UPPER]! >>> LEADING_SHIFT;
}

/** Tables for finding the bound of a value. */
interface Search {
  readonly sorted: Float64Array;
  readonly firstOf: Uint8Array;
}

/** Histograms with the same bounds share their tables; there are few different bounds. */
const searches = new Map<readonly number[], Search>();

function searchOf(bounds: readonly number[]): Search {
  return searches.getOrInsertComputed(bounds, () => ({
    sorted: Float64Array.from(bounds),
    firstOf: firstBounds(bounds),
  }));
}

function firstBounds(bounds: readonly number[]): Uint8Array {
  let at = 0;
  return Uint8Array.from({ length: 2 ** LEADING_BITS }, (_, bits) => {
    words[UPPER] = bits << LEADING_SHIFT;
    words[1 - UPPER] = 0;
    // The smallest value with these bits. Patterns above those of the positive values are negative.
    const least = double[0]!;
    if (least < 0 || Object.is(least, -0)) return 0;
    while (at < bounds.length && bounds[at]! < least) at++;
    return at;
  });
}

/** Rounds to two digits: 0.001 instead of 0.0010000000000000002. */
function rounded(bound: number): number {
  return Number(bound.toPrecision(2));
}
