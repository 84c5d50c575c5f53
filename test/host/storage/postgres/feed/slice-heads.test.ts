import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { SliceHeads } from '../../../../../host/storage/postgres/feed/slice-heads.ts';

test('heads that one thread advances are read by the others', () => {
  const heads = new SliceHeads();
  const follower = new SliceHeads(heads.shared);
  expect(follower.offsets().text).toBe('0');
  heads.advance([
    [0, 3],
    [1023, 2 ** 45],
  ]);
  expect(follower.offsets().offs[0]).toBe(3);
  expect(follower.offsets().offs[1023]).toBe(2 ** 45);
  heads.advance([[1, 1]]);
  expect(follower.offsets().offs.slice(0, 3)).toEqual(new Float64Array([3, 1, 0]));
  expect(new SliceHeads(heads.shared).offsets().text).toBe(follower.offsets().text);
});

test('a head never goes back', () => {
  const heads = new SliceHeads();
  heads.advance([[7, 5]]);
  const { version } = heads;
  heads.advance([
    [7, 4],
    [7, 5],
  ]);
  expect(heads.offsets().offs[7]).toBe(5);
  expect(heads.version).toBe(version);
});

test('who waits is woken when a head advances, and by wake', async () => {
  const heads = new SliceHeads();
  const follower = new SliceHeads(heads.shared);
  const advanced = follower.changed(follower.version);
  heads.advance([[3, 1]]);
  await advanced;
  expect(follower.offsets().text).toBe('3:1');
  const woken = follower.changed(follower.version);
  heads.wake();
  await woken;
});

test('who waits for a version that is over does not wait', async () => {
  const heads = new SliceHeads();
  const { version } = heads;
  heads.advance([[3, 1]]);
  await heads.changed(version);
  expect(heads.version).not.toBe(version);
});

test('a reader sees whole numbers that only grow, and in the end the last ones', async () => {
  const heads = new SliceHeads();
  // The two halves of each number change together.
  const step = 2 ** 32 + 1;
  const steps = 20_000;
  const writer = new Worker(
    `const { workerData, parentPort } = require('node:worker_threads');
     import(workerData.module).then(({ SliceHeads }) => {
       const heads = new SliceHeads(workerData.shared);
       for (let n = 1; n <= ${steps}; n++) heads.advance([[0, n * ${step}], [n % 1024, n * ${step}]]);
       parentPort.postMessage('written');
     });`,
    {
      eval: true,
      workerData: {
        shared: heads.shared,
        module: new URL('../../../../../host/storage/postgres/feed/slice-heads.ts', import.meta.url)
          .href,
      },
    },
  );
  onTestFinished(async () => void (await writer.terminate()));
  const written = once(writer, 'message').then(() => true);
  let before = heads.offsets();
  for (let isWritten = false; !isWritten;) {
    const now = heads.offsets();
    expect(now.hasReached(before)).toBe(true);
    expect([...now.offs].every((off) => off % step === 0)).toBe(true);
    before = now;
    // oxlint-disable-next-line no-await-in-loop -- the message of the writer comes meanwhile
    isWritten = await Promise.race([written, nextTurn(false)]);
  }
  expect(heads.offsets().offs[0]).toBe(steps * step);
});
