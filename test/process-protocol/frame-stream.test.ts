import { expect, test } from 'vitest';
import { FrameStream } from '../../process-protocol/frame-stream.ts';
import { MESSAGE_BYTES_MAX } from '../../process-protocol/protocol.ts';

const CREDIT = new Uint8Array([9]);
const frame = (bytes: number): Uint8Array => new Uint8Array(bytes);

/** A stream whose connection takes `room` messages before it is full. */
function streamOf({ windowBytes = 1_000, room = Infinity } = {}) {
  const written: number[] = [];
  const credits: number[] = [];
  const waiting: (() => void)[] = [];
  const sink = {
    write: (message: Buffer) => written.push(message.length) < room,
    once: (_event: 'drain', listener: () => void) => waiting.push(listener),
  };
  const creditFrame = (bytes: number) => {
    credits.push(bytes);
    return CREDIT;
  };
  const stream = new FrameStream({ sink, creditFrame, ownWindowBytes: 400, windowBytes });
  return { stream, written, credits, drain: () => waiting.shift()!() };
}

test('frames of one turn leave in one message', () => {
  const { stream, written } = streamOf();
  for (const bytes of [10, 20, 30]) stream.send(frame(bytes));
  expect(written).toEqual([]);
  stream.flush();
  expect(written).toEqual([66]);
});

test('a message has at most 256 KiB, unless one frame is larger', () => {
  const { stream, written } = streamOf({ windowBytes: 100_000_000 });
  for (const bytes of [200_000, 100_000, 300_000, 10]) stream.send(frame(bytes));
  stream.flush();
  expect(written).toEqual([200_004, 100_004, 300_004, 12]);
  expect(written.filter((bytes) => bytes > MESSAGE_BYTES_MAX)).toEqual([300_004]);
});

test('frames wait for credit when the window is full', () => {
  const { stream, written } = streamOf();
  for (let count = 0; count < 4; count++) stream.send(frame(400));
  stream.flush();
  expect(written).toEqual([806]);
  expect(stream.unsentBytes).toBe(800);
  stream.credited(403);
  stream.flush();
  expect(written).toEqual([806, 403]);
  stream.credited(806);
  stream.flush();
  expect(written).toEqual([806, 403, 403]);
  expect(stream.unsentBytes).toBe(0);
});

test('a frame larger than the window leaves while a part of the window is not credited', () => {
  const { stream, written } = streamOf();
  stream.send(frame(200));
  stream.flush();
  stream.send(frame(5_000));
  stream.flush();
  expect(written).toEqual([203, 5_003]);
  stream.send(frame(10));
  stream.flush();
  expect(written).toHaveLength(2);
  stream.credited(5_000);
  stream.flush();
  expect(written).toHaveLength(3);
});

test('nothing is written to a full connection before it has drained, and credits go first then', () => {
  const { stream, written, credits, drain } = streamOf({ room: 1 });
  stream.send(frame(10));
  stream.flush();
  stream.send(frame(20));
  stream.taken(99);
  stream.taken(1);
  stream.flush();
  expect(written).toEqual([12]);
  drain();
  expect(written).toEqual([12, 3]);
  expect(credits).toEqual([100]);
  drain();
  expect(written).toEqual([12, 3, 22]);
});

test('a connection that takes nothing keeps the latest hundred pongs', () => {
  const { stream, written, drain } = streamOf({ room: 1 });
  stream.send(frame(10));
  stream.flush();
  for (let count = 0; count < 1_000; count++) stream.sendControl(CREDIT);
  drain();
  expect(written).toEqual([12, 300]);
});

test('a closed stream writes nothing, and forgets what waited', () => {
  const { stream, written } = streamOf();
  stream.send(frame(10));
  stream.close();
  stream.flush();
  expect(written).toEqual([]);
  expect(stream.unsentBytes).toBe(0);
});
