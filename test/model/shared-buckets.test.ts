// SharedBuckets: which bucket a caller has, what happens when there are more callers than buckets, and that threads count together.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  type BucketKey,
  type BucketsSize,
  SET_BUCKETS,
  SharedBuckets,
} from '../../model/shared-buckets.ts';
import { Random } from '../support/random.ts';
import type { Taking } from '../support/taking-thread.ts';

const RATE = { count: 2, periodMs: 60_000 };
const ONE_SET: BucketsSize = { bucketsMax: SET_BUCKETS, reserved: 2 };

function keyOf(number: number, set = 0): BucketKey {
  return { set, tags: [number, ~number] };
}

/** Returns how often a caller is let through at once. */
function passesOf(buckets: SharedBuckets, key: BucketKey, nowMs: number): number {
  let passes = 0;
  while (buckets.take(key, 0, RATE, nowMs).isTaken) passes += 1;
  return passes;
}

test('each caller has a bucket of its own, whoever comes in between', () => {
  const buckets = new SharedBuckets({ bucketsMax: 10_000, reserved: 1 });
  const random = new Random(3);
  const taken = new Map<number, number>();
  for (let request = 0; request < 6_000; request++) {
    const caller = random.below(1_000);
    const before = taken.get(caller) ?? 0;
    const { isTaken, isCrowded } = buckets.take(keyOf(caller, caller * 7), 0, RATE, 1_000);
    expect([isTaken, isCrowded]).toEqual([before < RATE.count, false]);
    if (isTaken) taken.set(caller, before + 1);
  }
});

test('callers whose tags differ in one half are not the same', () => {
  const buckets = new SharedBuckets(ONE_SET);
  expect(passesOf(buckets, { set: 0, tags: [1, 1] }, 1)).toBe(2);
  expect(passesOf(buckets, { set: 0, tags: [1, 2] }, 1)).toBe(2);
  expect(passesOf(buckets, { set: 0, tags: [2, 1] }, 1)).toBe(2);
});

/** Returns the buckets of a set of which each has lost its tokens. */
function full(): SharedBuckets {
  const buckets = new SharedBuckets(ONE_SET);
  for (let caller = 1; caller <= SET_BUCKETS; caller++) passesOf(buckets, keyOf(caller), 1_000);
  return buckets;
}

describe('when all buckets of a set are in use', () => {
  test('further callers share the reserved bucket, and those with a bucket keep it', () => {
    const buckets = full();
    const further = Array.from({ length: 100 }, (_, at) =>
      buckets.take(keyOf(1_000 + at), 0, RATE, 1_000),
    );
    expect(further.every(({ isCrowded }) => isCrowded)).toBe(true);
    expect(further.filter(({ isTaken }) => isTaken)).toHaveLength(RATE.count);
    expect(passesOf(buckets, keyOf(7), 1_000)).toBe(0);
    // Another limit has another reserved bucket.
    expect(buckets.take(keyOf(2_000), 1, RATE, 1_000)).toMatchObject({
      isTaken: true,
      isCrowded: true,
    });
  });

  test('one that is full again goes to a new caller, and no other', () => {
    const buckets = full();
    // Every bucket has one of its two tokens.
    const laterMs = 1_000 + RATE.periodMs / 2;
    expect(buckets.take(keyOf(1_000), 0, RATE, laterMs).isCrowded).toBe(true);
    for (let caller = 2; caller <= SET_BUCKETS; caller++)
      buckets.take(keyOf(caller), 0, RATE, laterMs);
    const fullMs = 1_000 + RATE.periodMs;
    expect(buckets.take(keyOf(2_000), 0, RATE, fullMs).isCrowded).toBe(false);
    expect(buckets.take(keyOf(2_001), 0, RATE, fullMs).isCrowded).toBe(true);
    // Those that are not full have lost nothing by it.
    expect(passesOf(buckets, keyOf(2), fullMs)).toBe(1);
  });
});

test('100,000 callers are let through no more often than there are buckets for', () => {
  const bucketsMax = 1_024;
  const buckets = new SharedBuckets({ bucketsMax, reserved: 1 });
  const random = new Random(11);
  let passes = 0;
  for (let caller = 0; caller < 100_000; caller++)
    if (buckets.take(keyOf(caller, random.below(2 ** 32)), 0, RATE, 1_000).isTaken) passes += 1;
  expect(passes).toBe(bucketsMax + RATE.count);
});

test('a token that is restored is there again, unless its bucket has gone to another caller', () => {
  const buckets = new SharedBuckets(ONE_SET);
  const ada = keyOf(1);
  expect(passesOf(buckets, ada, 1_000)).toBe(2);
  const { index } = buckets.take(ada, 0, RATE, 1_000);
  buckets.restore(index, ada, RATE);
  expect(passesOf(buckets, ada, 1_000)).toBe(1);
  buckets.restore(index, keyOf(2), RATE);
  expect(passesOf(buckets, ada, 1_000)).toBe(0);
  const reserved = buckets.takeReserved(1, { count: 1, periodMs: 1_000 }, 1_000);
  buckets.restore(reserved.index, undefined, { count: 1, periodMs: 1_000 });
  expect(buckets.takeReserved(1, { count: 1, periodMs: 1_000 }, 1_000).isTaken).toBe(true);
});

/** Lets no time pass in waits for a lock, and returns the milliseconds that were waited. `during`: called in each wait. */
function waiting(during: () => void = () => {}): { readonly ms: number } {
  const waited = { ms: 0 };
  const waits = vi.spyOn(Atomics, 'wait').mockImplementation((_locks, _lock, _value, ms = 0) => {
    waited.ms += ms;
    during();
    return 'timed-out';
  });
  onTestFinished(() => waits.mockRestore());
  return waited;
}

test('the lock of a thread that has ended is taken over after two seconds', () => {
  const memory = SharedBuckets.shared(ONE_SET);
  const buckets = new SharedBuckets(ONE_SET, memory);
  // The last numbers are the locks.
  new Int32Array(memory).fill(1, -1 - ONE_SET.reserved);
  const waited = waiting();
  expect(passesOf(buckets, keyOf(1), 1_000)).toBe(2);
  expect(waited.ms).toBe(2_000);
  expect(buckets.takeReserved(1, RATE, 1_000).isTaken).toBe(true);
  expect(waited.ms).toBe(4_000);
});

test('a lock that is released again and again is waited for, and not taken over', () => {
  const memory = SharedBuckets.shared(ONE_SET);
  const numbers = new Int32Array(memory);
  const lock = numbers.length - 1 - ONE_SET.reserved;
  numbers[lock] = 1;
  let waits = 0;
  waiting(() => {
    waits += 1;
    // Another thread takes the lock each time at once: it looks held whenever somebody looks.
    if (waits % 1_999 === 0) numbers[lock]! += waits < 10_000 ? 2 : 1;
  });
  expect(new SharedBuckets(ONE_SET, memory).take(keyOf(1), 0, RATE, 1_000).isTaken).toBe(true);
  expect(waits).toBe(6 * 1_999);
  expect(numbers[lock]).toBe(14);
});

/** Returns the value for a thread that stalls when it reads `property` for the time `last`. `meanwhile`: what the others do then. */
function stallsIn<Value extends object>(
  value: Value,
  property: keyof Value,
  last: number,
  meanwhile: () => void,
): Value {
  let reads = 0;
  return new Proxy(value, {
    get(target, name, receiver): unknown {
      if (name === property && ++reads === last) meanwhile();
      return Reflect.get(target, name, receiver);
    },
  });
}

describe('a thread that stalls until another one has taken its lock over', () => {
  let buckets: SharedBuckets;
  let others: SharedBuckets;

  beforeEach(() => {
    const memory = SharedBuckets.shared(ONE_SET);
    buckets = new SharedBuckets(ONE_SET, memory);
    others = new SharedBuckets(ONE_SET, memory);
    waiting();
  });

  test('takes no bucket away that has gone to another caller', () => {
    let passes = 0;
    // The caller is compared with each bucket, and is then written into one.
    const ada = stallsIn(keyOf(2), 'tags', SET_BUCKETS + 1, () => {
      passes = passesOf(others, keyOf(1), 1_000);
    });
    expect(buckets.take(ada, 0, RATE, 1_000).isTaken).toBe(true);
    expect(passes).toBe(RATE.count);
    expect(passesOf(others, keyOf(1), 1_000)).toBe(0);
    expect(passesOf(others, keyOf(2), 1_000)).toBe(RATE.count - 1);
  });

  test('does not erase what others have counted', () => {
    let passes = 0;
    const rate = stallsIn(RATE, 'count', 1, () => {
      passes = passesOf(others, keyOf(1), 1_000);
    });
    expect(buckets.take(keyOf(1), 0, rate, 1_000).isTaken).toBe(false);
    expect(passes).toBe(RATE.count);
    expect(passesOf(others, keyOf(1), 1_000)).toBe(0);
  });

  test('does not erase what others have counted in a reserved bucket', () => {
    const rate = stallsIn(RATE, 'count', 1, () => {
      while (others.takeReserved(1, RATE, 1_000).isTaken);
    });
    expect(buckets.takeReserved(1, rate, 1_000).isTaken).toBe(false);
    expect(others.takeReserved(1, RATE, 1_000).isTaken).toBe(false);
  });

  test('restores one token, and not those that others have taken', () => {
    const { index } = buckets.take(keyOf(1), 0, RATE, 1_000);
    const rate = stallsIn(RATE, 'count', 1, () => void passesOf(others, keyOf(1), 1_000));
    buckets.restore(index, keyOf(1), rate);
    expect(passesOf(others, keyOf(1), 1_000)).toBe(1);
  });
});

test('threads that take at the same time get together what one thread gets', async () => {
  const size = { bucketsMax: SET_BUCKETS, reserved: 1 };
  const rate = { count: 250_000, periodMs: 4_000_000 };
  const threads = 2;
  const workerData: Taking = {
    memory: SharedBuckets.shared(size),
    size,
    key: keyOf(1),
    rate,
    times: 150_000,
    ready: new SharedArrayBuffer(4),
    threads,
  };
  const taken = Array.from({ length: threads }, async () => {
    const worker = new Worker(new URL('../support/taking-thread.ts', import.meta.url), {
      workerData,
    });
    const [count] = (await once(worker, 'message')) as [number];
    await worker.terminate();
    return count;
  });
  const counts = await Promise.all(taken);
  expect(counts[0]! + counts[1]!).toBe(rate.count);
});
