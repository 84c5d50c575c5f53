// A thread that takes tokens from one bucket as often as it is told to, and says how many it has got.
import { parentPort, workerData } from 'node:worker_threads';
import { type BucketKey, type BucketsSize, SharedBuckets } from '../../model/shared-buckets.ts';
import type { BucketRate } from '../../model/request-bucket.ts';

export interface Taking {
  readonly memory: SharedArrayBuffer;
  readonly size: BucketsSize;
  readonly key: BucketKey;
  readonly rate: BucketRate;
  readonly times: number;
  /** One number that all threads count up once they are ready. */
  readonly ready: SharedArrayBuffer;
  readonly threads: number;
}

const { memory, size, key, rate, times, ready, threads } = workerData as Taking;
const buckets = new SharedBuckets(size, memory);
const waiting = new Int32Array(ready);
Atomics.add(waiting, 0, 1);
while (Atomics.load(waiting, 0) < threads);
let taken = 0;
for (let time = 0; time < times; time++) if (buckets.take(key, 0, rate, 1_000).isTaken) taken += 1;
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window
parentPort!.postMessage(taken);
