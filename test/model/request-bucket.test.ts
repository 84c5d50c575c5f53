// RequestBucket: how many requests a bucket lets through in which time, against a model with whole numbers.
import { describe, expect, test } from 'vitest';
import {
  type BucketAnswer,
  type BucketRate,
  takeToken,
  wholeSeconds,
} from '../../model/request-bucket.ts';
import { Random } from '../support/random.ts';

const MINUTE_MS = 60_000;
/** No whole number of milliseconds fills a token but for exactly its thousandth. */
const ODD_PERIODS_MS = [997, 59_999, 86_399_999];

class Bucket {
  readonly #rate: BucketRate;
  #fullAtMs = 0;

  constructor(count: number, periodMs = MINUTE_MS) {
    this.#rate = { count, periodMs };
  }

  take(nowMs: number): BucketAnswer {
    const answer = takeToken(this.#fullAtMs, nowMs, this.#rate);
    this.#fullAtMs = answer.fullAtMs;
    return answer;
  }
}

/**
 * A bucket that counts in parts of a token: a token has `periodMs` of them, and each millisecond brings `count`. A thousandth may
 * lack.
 */
class ModelBucket {
  readonly #rate: BucketRate;
  #parts: number;
  #atMs = 0;

  constructor(rate: BucketRate) {
    this.#rate = rate;
    this.#parts = rate.count * rate.periodMs;
  }

  take(nowMs: number): Pick<BucketAnswer, 'isTaken' | 'remaining' | 'waitMs'> {
    const { count, periodMs } = this.#rate;
    this.#parts = Math.min(this.#parts + (nowMs - this.#atMs) * count, count * periodMs);
    this.#atMs = nowMs;
    const roundingParts = periodMs / 1_000;
    const isTaken = this.#parts + roundingParts >= periodMs;
    const waitMs = isTaken ? 0 : (periodMs - this.#parts) / count;
    if (isTaken) this.#parts -= periodMs;
    const remaining = Math.max(0, Math.floor((this.#parts + roundingParts) / periodMs));
    return { isTaken, remaining, waitMs };
  }
}

test('a full bucket lets through exactly as many requests at once as it has tokens', () => {
  const wrong: number[] = [];
  for (let count = 1; count <= 1_000; count++) {
    const bucket = new Bucket(count);
    let taken = 0;
    while (bucket.take(123_456.789).isTaken) taken += 1;
    if (taken !== count) wrong.push(count);
  }
  expect(wrong).toEqual([]);
});

test('at any times it answers as the model does', () => {
  const random = new Random(7);
  for (let round = 0; round < 100; round++) {
    const rate = {
      count: random.pick([1, 2, 7, 60, 1_000]),
      periodMs: random.pick(ODD_PERIODS_MS),
    };
    const bucket = new Bucket(rate.count, rate.periodMs);
    const model = new ModelBucket(rate);
    const stepMs = Math.ceil((2 * rate.periodMs) / rate.count);
    let nowMs = 0;
    for (let request = 0; request < 200; request++) {
      if (random.chance(60)) nowMs += random.below(stepMs);
      const { isTaken, remaining, waitMs } = bucket.take(nowMs);
      const expected = model.take(nowMs);
      expect({ isTaken, remaining }).toEqual({
        isTaken: expected.isTaken,
        remaining: expected.remaining,
      });
      expect(waitMs).toBeCloseTo(expected.waitMs, 3);
    }
  }
});

describe('a bucket', () => {
  test('has one more token whenever its part of the time has passed', () => {
    const bucket = new Bucket(60);
    for (let count = 0; count < 60; count++) bucket.take(5_000);
    expect(bucket.take(5_000)).toMatchObject({ isTaken: false, waitMs: 1_000, remaining: 0 });
    expect(bucket.take(5_400)).toMatchObject({ isTaken: false, waitMs: 600 });
    expect(bucket.take(6_000)).toMatchObject({ isTaken: true, waitMs: 0, remaining: 0 });
  });

  test('is never more than full', () => {
    const bucket = new Bucket(2);
    expect(bucket.take(0).remaining).toBe(1);
    expect(bucket.take(1e12).remaining).toBe(1);
  });

  test('loses nothing by requests that are refused', () => {
    const bucket = new Bucket(1);
    expect(bucket.take(0).isTaken).toBe(true);
    for (let nowMs = 0; nowMs < MINUTE_MS; nowMs += 1_000)
      expect(bucket.take(nowMs).waitMs).toBe(MINUTE_MS - nowMs);
    expect(bucket.take(MINUTE_MS).isTaken).toBe(true);
  });

  test('delays nobody by more than its time when the clock is set back', () => {
    const bucket = new Bucket(1);
    expect(bucket.take(9_000_000).isTaken).toBe(true);
    expect(bucket.take(0).waitMs).toBe(MINUTE_MS);
    expect(bucket.take(MINUTE_MS).isTaken).toBe(true);
  });
});

test('whoever asks all the time is let through no more often than the bucket is filled', () => {
  const bucket = new Bucket(1_000);
  let taken = 0;
  // A thousandth of a token comes with each request.
  for (let request = 0; request <= 1_000_000; request++)
    if (bucket.take(request * 0.06).isTaken) taken += 1;
  expect(taken).toBeLessThanOrEqual(2_001);
});

test('seconds are whole, and never none', () => {
  expect([0, 1, 1_000, 1_001].map(wholeSeconds)).toEqual([1, 1, 1, 2]);
});
