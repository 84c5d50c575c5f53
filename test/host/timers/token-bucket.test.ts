// The rate of the token bucket, at once and on average.
import { expect, test } from 'vitest';
import { TokenBucket } from '../../../host/timers/token-bucket.ts';

test.each([
  [1000, 100, 1],
  [10, 1, 100],
  [1, 1, 1000],
])('%i a second are %i at once, and then one each %i ms', (perSecond, atOnce, eachMs) => {
  const bucket = new TokenBucket(perSecond, 5000);
  const taken = Array.from({ length: atOnce + 1 }, () => bucket.take(5000));
  expect(taken).toEqual([...Array.from({ length: atOnce }, () => true), false]);
  expect(bucket.waitMs(5000)).toBe(eachMs);
  expect(bucket.take(5000 + eachMs - 1)).toBe(false);
  expect(bucket.take(5000 + eachMs)).toBe(true);
  // A long rest gives no more than what may start at once.
  const later = Array.from({ length: atOnce + 1 }, () => bucket.take(1_000_000));
  expect(later.filter(Boolean)).toHaveLength(atOnce);
});
