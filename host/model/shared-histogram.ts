// SharedHistogram: how many values fell between which bounds, and their sum, in memory that two threads share. One
// thread adds, another reads at any time, also while the first is kept busy; what was counted outlives it.

/** Bounds of seconds, from 10 microseconds to 100 seconds: ten a decade, so that a quantile is told to a fifth. */
export const SECONDS_BOUNDS: readonly number[] = [1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10].flatMap(
  (decade) => [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8].map((step) => rounded(decade * step)),
);
/** Bounds of numbers of things. */
export const COUNT_BOUNDS: readonly number[] = Array.from({ length: 13 }, (_, power) => 2 ** power);

export interface HistogramCounts {
  /** Inclusive, ascending. */
  readonly bounds: readonly number[];
  /** Of each bound, how many values are within it and beyond the one before; and then those beyond all. */
  readonly counts: readonly number[];
  readonly sum: number;
}

export class SharedHistogram {
  /** For the other thread. */
  readonly shared: SharedArrayBuffer;
  readonly #bounds: readonly number[];
  readonly #sorted: Float64Array;
  /** By the leading bits of a value, the first bound that may be its own: a search would cost several times as much. */
  readonly #firstOf: Uint8Array;
  /** The counts, and then the sum. */
  readonly #numbers: Float64Array;

  /** `shared`: what another of the same bounds was made with. */
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
    // Once or twice at most, for the bounds lie no closer.
    while (value > sorted[at]!) at++;
    this.#numbers[at]! += 1;
    this.#numbers[sorted.length + 1]! += value;
  }

  read(): HistogramCounts {
    const counts = [...this.#numbers.subarray(0, this.#sorted.length + 1)];
    return { bounds: this.#bounds, counts, sum: this.#numbers[this.#sorted.length + 1]! };
  }
}

/** Of histograms of the same bounds. */
export function summedHistograms(
  bounds: readonly number[],
  all: readonly HistogramCounts[],
): HistogramCounts {
  const counts = Array.from({ length: bounds.length + 1 }, (_, at) =>
    all.reduce((sum, each) => sum + each.counts[at]!, 0),
  );
  return { bounds, counts, sum: all.reduce((sum, each) => sum + each.sum, 0) };
}

/** What is in `now` and was not in `before`, which is an earlier reading of it. */
export function histogramSince(now: HistogramCounts, before: HistogramCounts): HistogramCounts {
  const counts = now.counts.map((count, at) => count - before.counts[at]!);
  return { bounds: now.bounds, counts, sum: now.sum - before.sum };
}

export function histogramCount({ counts }: HistogramCounts): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

/** `part`: from 0 to 1. What lies between two bounds is taken to be spread evenly. Undefined: there is no value. */
export function quantile(histogram: HistogramCounts, part: number): number | undefined {
  const { bounds, counts } = histogram;
  const wanted = histogramCount(histogram) * part;
  let below = 0;
  for (const [at, count] of counts.entries()) {
    if (count === 0) continue;
    if (below + count >= wanted) {
      // Beyond all bounds nothing is known but that.
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
/** Of the two halves of a double, the one with sign and exponent. */
const UPPER = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1 ? 1 : 0;
/** Sign, exponent, and three bits of the fraction. */
const LEADING_BITS = 15;
const LEADING_SHIFT = 32 - LEADING_BITS;

/** They grow with the value, if it is not negative. */
function leadingBits(value: number): number {
  double[0] = value;
  return words[UPPER]! >>> LEADING_SHIFT;
}

/** How the bound of a value is found. */
interface Search {
  readonly sorted: Float64Array;
  readonly firstOf: Uint8Array;
}

/** There are few, and all histograms of the same bounds share them. */
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
    // The smallest that has these bits. Those after the positive ones are negative.
    const least = double[0]!;
    if (least < 0 || Object.is(least, -0)) return 0;
    while (at < bounds.length && bounds[at]! < least) at++;
    return at;
  });
}

/** 0.001 and not 0.0010000000000000002. */
function rounded(bound: number): number {
  return Number(bound.toPrecision(2));
}
