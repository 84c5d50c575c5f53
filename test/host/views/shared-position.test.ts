import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { SharedPosition } from '../../../host/views/shared-position.ts';

const URL_OF_IT = new URL('../../../host/views/shared-position.ts', import.meta.url).href;

test('another thread reads the position that was set, and is woken by it', async () => {
  const position = new SharedPosition();
  expect(position.get()).toBe('');
  const worker = new Worker(
    `const { parentPort, workerData } = require('node:worker_threads');
    import(${JSON.stringify(URL_OF_IT)}).then(async ({ SharedPosition }) => {
      const position = new SharedPosition(workerData);
      parentPort.on('message', () => {});
      parentPort.postMessage(position.get());
      await position.reached((text) => text === 'second', 60_000);
      parentPort.postMessage(position.get());
      parentPort.close();
    });`,
    { eval: true, workerData: position.shared },
  );
  position.set('first');
  const messages: unknown[] = [];
  await new Promise<void>((resolve, reject) => {
    worker.on('error', reject);
    worker.on('message', (message) => {
      messages.push(message);
      if (messages.length === 1) position.set('second');
      else resolve();
    });
  });
  await worker.terminate();
  expect(messages).toEqual(['first', 'second']);
});

test('a position of 1,024 numbers is read as it was set, by whoever reads it', () => {
  const position = new SharedPosition();
  const reader = new SharedPosition(position.shared);
  for (const off of ['1', '2gosa7pa2gv', '9']) {
    const text = Array.from({ length: 1_024 }, () => off).join('.');
    position.set(text);
    expect([position.get(), reader.get(), reader.get()]).toEqual([text, text, text]);
  }
});

test('no reader sees parts of two positions', async () => {
  const position = new SharedPosition();
  const worker = new Worker(
    `const { workerData } = require('node:worker_threads');
    import(${JSON.stringify(URL_OF_IT)}).then(({ SharedPosition }) => {
      const position = new SharedPosition(workerData.shared);
      const stop = new Int32Array(workerData.stop);
      for (let n = 0; Atomics.load(stop, 0) === 0; n++)
        position.set(String(n % 10).repeat(1 + (n * 7) % 200));
    });`,
    { eval: true, workerData: { shared: position.shared, stop: new SharedArrayBuffer(4) } },
  );
  await position.reached((text) => text !== '', 60_000);
  for (let read = 0; read < 2_000; read++) expect(new Set(position.get()).size).toBeLessThan(2);
  await worker.terminate();
});

test('a wait ends when its time is over, or when it is aborted', async () => {
  const position = new SharedPosition();
  position.set('1');
  expect(await position.reached((text) => text === '1', 0)).toBe(true);
  expect(await position.reached((text) => text === '2', 1)).toBe(false);
  const controller = new AbortController();
  const waiting = position.reached((text) => text === '2', 60_000, controller.signal);
  controller.abort();
  expect(await waiting).toBe(false);
});

test('a position that is too long is refused', () => {
  expect(() => new SharedPosition().set('x'.repeat(16_385))).toThrow(RangeError);
});
