// FrameRing from both sides: in one thread in every order, and between two threads.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { frameRing, FrameRingReader, FrameRingWriter } from '../../../host/shards/frame-ring.ts';

const RING_BYTES = 128 * 1024;
const module = new URL('../../../host/shards/frame-ring.ts', import.meta.url).href;

function ring(shards = 2) {
  const shared = frameRing(shards);
  return { writer: new FrameRingWriter(shared), reader: new FrameRingReader(shared) };
}

/** Writes a frame of one number and one text. */
function write(writer: FrameRingWriter, number: number, text: string): boolean {
  if (!writer.begin(2, text.length)) return false;
  writer.word(number);
  writer.text(text);
  return writer.end();
}

function readAll(reader: FrameRingReader): [number, string][] {
  const found: [number, string][] = [];
  if (!reader.look()) return found;
  while (reader.next()) {
    found.push([reader.word(), reader.text()]);
    // At most as many as fit: a reader with a wrong position would read for ever.
    if (found.length > RING_BYTES / 16) throw new Error('more frames than fit');
  }
  return found;
}

// The largest ring and the smallest.
test.each([2, 256])(
  'what is written is read once, whole and in its order, wherever in the ring of %i shards it comes to lie',
  (shards) => {
    const { writer, reader } = ring(shards);
    const written: [number, string][] = [];
    let seen = 0;
    const step = fc.oneof(
      fc.record({ units: fc.integer({ min: 0, max: 4000 }) }),
      fc.constant('read' as const),
    );
    fc.assert(
      fc.property(fc.array(step, { minLength: 20, maxLength: 60 }), (steps) => {
        for (const each of steps)
          if (each === 'read') assert.deepEqual(readAll(reader), written.splice(0));
          else {
            const text = String.fromCharCode(32 + (seen % 200)).repeat(each.units);
            if (write(writer, seen, text)) written.push([seen, text]);
            seen++;
          }
      }),
      { seed: 7, numRuns: 300 },
    );
    expect(readAll(reader)).toEqual(written);
  },
);

test('a full ring takes nothing until something is read, and loses nothing', () => {
  const { writer, reader } = ring();
  const text = 'x'.repeat(1000);
  let count = 0;
  while (write(writer, count, text)) count++;
  expect(count).toBe(Math.floor(RING_BYTES / 1016));
  expect(readAll(reader).map(([number]) => number)).toEqual(
    Array.from({ length: count }, (_, n) => n),
  );
  expect(write(writer, count, text)).toBe(true);
  expect(readAll(reader)).toEqual([[count, text]]);
});

test('a frame that is too long, or of characters of two bytes, is refused and leaves no trace', () => {
  const { writer, reader } = ring();
  expect(write(writer, 1, 'x'.repeat(5000))).toBe(false);
  expect(write(writer, 2, 'Ā')).toBe(false);
  expect(write(writer, 3, 'ÿ\u0000')).toBe(true);
  expect(write(writer, 4, '')).toBe(true);
  expect(readAll(reader)).toEqual([
    [3, 'ÿ\u0000'],
    [4, ''],
  ]);
});

/** Size of all rings that one of `shards` shards reads, plus one. */
const bytes = (shards: number) => shards * frameRing(shards).byteLength;

test('the more shards there are, the less memory each two of them share', () => {
  expect(bytes(2)).toBeGreaterThan(2 * RING_BYTES);
  expect(bytes(8)).toBeGreaterThan(8 * RING_BYTES);
  expect(bytes(9)).toBeLessThan(bytes(8));
  expect(bytes(64)).toBeLessThan(1.1 * 2 ** 20);
  // The longest frame fits into the smallest ring at any position.
  const { writer, reader } = ring(256);
  for (let number = 0; number < 20; number++) {
    expect(write(writer, number, 'x'.repeat(4080 - 4 * number))).toBe(true);
    expect(readAll(reader)).toHaveLength(1);
  }
});

test('numbers keep their 32 bits', () => {
  const { writer, reader } = ring();
  for (const number of [-1, 2 ** 31 - 1, -(2 ** 31), 0]) write(writer, number, 'a');
  expect(readAll(reader).map(([number]) => number)).toEqual([-1, 2 ** 31 - 1, -(2 ** 31), 0]);
});

test('what is written while it is read is for the next look', () => {
  const { writer, reader } = ring();
  write(writer, 0, 'a');
  expect(reader.look()).toBe(true);
  expect(reader.next()).toBe(true);
  write(writer, 1, 'b');
  expect(reader.next()).toBe(false);
  expect(readAll(reader)).toEqual([[1, 'b']]);
});

describe('a reader', () => {
  test('that sleeps is to be woken once', () => {
    const { writer, reader } = ring();
    expect(reader.sleep()).toBe(true);
    expect(writer.wakesReader()).toBe(false);
    write(writer, 0, 'a');
    expect(writer.wakesReader()).toBe(true);
    write(writer, 1, 'b');
    expect(writer.wakesReader()).toBe(false);
  });

  test('that is awake is not woken', () => {
    const { writer, reader } = ring();
    expect(reader.sleep()).toBe(true);
    reader.wake();
    write(writer, 0, 'a');
    expect(writer.wakesReader()).toBe(false);
  });

  test('does not go to sleep over what it has not read', () => {
    const { writer, reader } = ring();
    write(writer, 0, 'a');
    expect(reader.sleep()).toBe(false);
    expect(writer.wakesReader()).toBe(false);
    expect(readAll(reader)).toHaveLength(1);
    expect(reader.sleep()).toBe(true);
  });
});

test('between two threads nothing is lost, torn or out of order, and no reader sleeps over anything', async () => {
  const shared = frameRing(2);
  const frames = 30_000;
  const worker = new Worker(
    `const { parentPort, workerData } = require('node:worker_threads');
     import(workerData.module).then(({ FrameRingWriter }) => {
       const writer = new FrameRingWriter(workerData.shared);
       for (let number = 0; number < workerData.frames; number++) {
         const text = String.fromCharCode(number % 256).repeat(number % 900);
         while (!(writer.begin(2, text.length) && (writer.word(number), writer.text(text), writer.end())));
         if (number % 7 === 0 && writer.wakesReader()) parentPort.postMessage('wake');
       }
       if (writer.wakesReader()) parentPort.postMessage('wake');
     });`,
    { eval: true, workerData: { module, shared, frames } },
  );
  const reader = new FrameRingReader(shared);
  let next = 0;
  for (;;) {
    for (const [number, text] of readAll(reader)) {
      const expected = String.fromCharCode(number % 256).repeat(number % 900);
      if (number !== next || text !== expected) throw new Error(`${number} instead of ${next}`);
      next++;
    }
    if (next === frames) break;
    if (reader.sleep()) await once(worker, 'message');
    else reader.wake();
  }
  expect(reader.look()).toBe(false);
  await worker.terminate();
});
