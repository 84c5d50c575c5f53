// Histograms in shared memory: each value is counted in its interval, and quantiles of a period are correct.
import { describe, expect, test } from 'vitest';
import {
  COUNT_BOUNDS,
  histogramCount,
  histogramSince,
  quantile,
  SECONDS_BOUNDS,
  SharedHistogram,
  summedHistograms,
} from '../../model/shared-histogram.ts';

/** Returns the interval of a value: an inclusive bound, or beyond all bounds. */
function placeOf(bounds: readonly number[], value: number): number {
  const at = bounds.findIndex((bound) => value <= bound);
  return at === -1 ? bounds.length : at;
}

function histogramOf(bounds: readonly number[], values: readonly number[]): SharedHistogram {
  const histogram = new SharedHistogram(bounds);
  for (const value of values) histogram.add(value);
  return histogram;
}

describe.each([
  ['seconds', SECONDS_BOUNDS],
  ['counts', COUNT_BOUNDS],
])('bounds of %s', (_what, bounds) => {
  test('are ascending, and plain numbers', () => {
    expect(bounds).toEqual([...new Set(bounds)].toSorted((a, b) => a - b));
    for (const bound of bounds) expect(String(bound).length).toBeLessThan(9);
  });

  test('have each value where it belongs: at a bound, beside it, between, and beyond', () => {
    const values = [0, -1, Number.MIN_VALUE, 1e300, Infinity].concat(
      bounds.flatMap((bound) => [
        bound,
        bound * (1 - Number.EPSILON),
        bound * (1 + Number.EPSILON),
        bound * 1.07,
        bound * 0.51,
      ]),
    );
    for (const value of values) {
      const { counts } = histogramOf(bounds, [value]).read();
      expect([value, counts.indexOf(1)]).toEqual([value, placeOf(bounds, value)]);
      expect(counts.filter((count) => count !== 0)).toEqual([1]);
    }
  });
});

test('the other thread reads what one has added', () => {
  const histogram = new SharedHistogram(COUNT_BOUNDS);
  const other = new SharedHistogram(COUNT_BOUNDS, histogram.shared);
  histogram.add(3);
  histogram.add(5);
  expect(other.read()).toEqual(histogram.read());
  expect(other.read().sum).toBe(8);
});

test('several are summed, and one is what it has grown by', () => {
  const [one, two] = [histogramOf(COUNT_BOUNDS, [1, 2]), histogramOf(COUNT_BOUNDS, [2, 9])];
  const before = one.read();
  one.add(2);
  one.add(100);
  const grown = histogramSince(one.read(), before);
  expect([grown.sum, histogramCount(grown)]).toEqual([102, 2]);
  const sum = summedHistograms(COUNT_BOUNDS, [one.read(), two.read()]);
  expect([sum.sum, histogramCount(sum)]).toEqual([116, 6]);
  expect(sum.counts.slice(0, 2)).toEqual([1, 3]);
  expect(histogramCount(summedHistograms(COUNT_BOUNDS, []))).toBe(0);
});

describe('a quantile', () => {
  test('has an error of at most a quarter of the value', () => {
    const values = Array.from({ length: 1_000 }, (_, n) => 1e-5 * 1.0138 ** n);
    const counts = histogramOf(SECONDS_BOUNDS, values).read();
    for (const part of [0.1, 0.5, 0.95, 0.99]) {
      const exact = values[Math.ceil(part * values.length) - 1]!;
      expect(quantile(counts, part)! / exact).toBeGreaterThan(0.75);
      expect(quantile(counts, part)! / exact).toBeLessThan(1.25);
    }
  });

  test('of one value lies between its bounds', () => {
    const counts = histogramOf(SECONDS_BOUNDS, [0.0045]).read();
    for (const part of [0.5, 0.99]) {
      expect(quantile(counts, part)).toBeGreaterThan(0.004);
      expect(quantile(counts, part)).toBeLessThanOrEqual(0.005);
    }
  });

  test('beyond all bounds is the last, and of nothing there is none', () => {
    expect(quantile(histogramOf(SECONDS_BOUNDS, [1e6]).read(), 0.5)).toBe(SECONDS_BOUNDS.at(-1));
    expect(quantile(histogramOf(SECONDS_BOUNDS, []).read(), 0.5)).toBeUndefined();
  });
});
