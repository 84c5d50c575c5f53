// TokenBuckets: how many requests of a key are let through in which time, on a clock of the test.
import { describe, expect, test } from 'vitest';
import { TokenBuckets } from '../../components/token-buckets.ts';

describe('a bucket', () => {
  test('has all tokens at first, and one more whenever its part of a minute has passed', () => {
    const buckets = new TokenBuckets(60, 10);
    const taken = Array.from({ length: 61 }, () => buckets.take('a', 5_000));
    expect(taken.slice(0, 60)).toEqual(Array(60).fill(0));
    expect(taken[60]).toBe(1_000);
    expect(buckets.take('a', 5_400)).toBe(600);
    expect(buckets.take('a', 6_000)).toBe(0);
    expect(buckets.take('a', 6_000)).toBe(1_000);
  });

  test.each([7, 11, 13, 999])('lets exactly %d requests through at once', (perMinute) => {
    const buckets = new TokenBuckets(perMinute, 10);
    let taken = 0;
    while (buckets.take('a', 1_767_225_600_123) === 0) taken += 1;
    expect(taken).toBe(perMinute);
  });

  test('is full again after a minute, and never more than full', () => {
    const buckets = new TokenBuckets(2, 10);
    const take = (nowMs: number) => [0, 0, 0].map(() => buckets.take('a', nowMs));
    expect(take(0)).toEqual([0, 0, 30_000]);
    expect(take(60_000)).toEqual([0, 0, 30_000]);
    expect(take(10_000_000)).toEqual([0, 0, 30_000]);
  });

  test('loses nothing by requests that are refused', () => {
    const buckets = new TokenBuckets(1, 10);
    expect(buckets.take('a', 0)).toBe(0);
    for (let nowMs = 0; nowMs < 60_000; nowMs += 1_000)
      expect(buckets.take('a', nowMs)).toBe(60_000 - nowMs);
    expect(buckets.take('a', 60_000)).toBe(0);
  });

  test('delays nobody by more than a minute when the clock is set back', () => {
    const buckets = new TokenBuckets(1, 10);
    expect(buckets.take('a', 9_000_000)).toBe(0);
    expect(buckets.take('a', 0)).toBe(60_000);
    expect(buckets.take('a', 60_000)).toBe(0);
  });

  test('is one of a key, however long the key is', () => {
    const buckets = new TokenBuckets(1, 10);
    const long = 'x'.repeat(100_000);
    expect(buckets.take(`${long}a`, 0)).toBe(0);
    expect(buckets.take(`${long}b`, 0)).toBe(0);
    expect(buckets.take(`${long}a`, 0)).toBe(60_000);
  });
});

test('the keys that were not used for the longest time are forgotten', () => {
  const buckets = new TokenBuckets(1, 2);
  expect([buckets.take('a', 0), buckets.take('b', 0), buckets.take('a', 0)]).toEqual([
    0, 0, 60_000,
  ]);
  expect(buckets.take('c', 0)).toBe(0);
  // 'b' was forgotten in place of 'a', which was used later.
  expect(buckets.take('a', 0)).toBe(60_000);
  expect(buckets.take('b', 0)).toBe(0);
});
