// Bounds of what a node holds for others: bytes that wait, messages that arrive, calls that it works on.
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { GatheredFrames } from '../../../host/remoting/gathered-frames.ts';
import {
  type ConnectionEnd,
  MessageConnection,
} from '../../../host/remoting/message-connection.ts';
import { RemotingBytes } from '../../../host/remoting/remoting-bytes.ts';
import type { RemotingBounds } from '../../../host/remoting/remoting-limits.ts';
import { ServedUnits, unitsOfCall, unitsOfRequest } from '../../../host/remoting/served-units.ts';
import { FRAME_KINDS as KIND, writeCall } from '../../../host/shards/frame.ts';
import type { Reply } from '../../../model/call.ts';
import { SvcError } from '../../../kit/svc-error.ts';
import { RawPeer, framed } from '../../support/remoting/raw-peer.ts';
import {
  callingNode,
  callOf,
  reply,
  servingNode,
  until,
} from '../../support/remoting/remote-pair.ts';

const MIB = 1024 * 1024;
const KIB = 1024;
/** Bounds that tests reach without much memory. */
const BOUNDS: RemotingBounds = {
  queuedBytesMax: 256 * KIB,
  queuedBytesTotalMax: 512 * KIB,
  arrivingBytesTotalMax: 256 * KIB,
  freeBytes: KIB,
  servedUnitsMax: 256 * KIB,
};

/** A socket whose other side takes nothing. */
class StuckSocket extends EventEmitter {
  writableLength = 0;
  isDestroyed = false;

  setNoDelay(): void {}

  write(bytes: Buffer): boolean {
    this.writableLength += bytes.length;
    return false;
  }

  destroy(): void {
    this.isDestroyed = true;
    queueMicrotask(() => this.emit('close'));
  }
}

function connectionOf(bytes: RemotingBytes) {
  const socket = new StuckSocket();
  const ends: ConnectionEnd[] = [];
  const connection = new MessageConnection({
    socket: socket as unknown as Socket,
    bytes,
    received: () => {},
    ended: (end) => ends.push(end),
  });
  connection.establish();
  return { socket, connection, ends };
}

test('a connection for which too many bytes wait is ended, and they count no more', async () => {
  const bytes = new RemotingBytes(BOUNDS);
  const { socket, connection, ends } = connectionOf(bytes);
  const large = ['x'.repeat(32 * KIB)];
  for (let count = 0; count < 8; count++) {
    expect(socket.isDestroyed).toBe(false);
    connection.send(large);
  }
  expect(socket.isDestroyed).toBe(true);
  expect(ends).toEqual([]);
  await until('the end', () => ends.length === 1);
  expect(ends[0]).toMatchObject({
    isRefusal: true,
    problem: expect.stringContaining('bytes wait'),
  });
  expect(bytes.queued).toBe(0);
});

test('of many connections for which bytes wait, one with many is ended, and one with few stays', () => {
  const bytes = new RemotingBytes(BOUNDS);
  const [small, ...large] = [1, 2, 3, 4].map(() => connectionOf(bytes));
  for (const { connection } of large) connection.send(['x'.repeat(170 * KIB)]);
  expect(large.map(({ socket }) => socket.isDestroyed)).toEqual([false, false, false]);
  small!.connection.send(['x'.repeat(900)]);
  small!.connection.send(['x'.repeat(80)]);
  bytes.queued += 3 * KIB;
  small!.connection.send(['x']);
  large[0]!.connection.send(['x']);
  expect(small!.socket.isDestroyed).toBe(false);
  expect(large.map(({ socket }) => socket.isDestroyed)).toEqual([true, false, false]);
  for (const { connection } of [small!, ...large]) connection.close();
});

test('large messages that arrive on many connections at once are refused beyond the bound', async () => {
  const { port, server } = await servingNode({ bounds: BOUNDS });
  const peers: RawPeer[] = [];
  const body = Buffer.alloc(40 * KIB);
  for (let count = 0; count < 8; count++) peers.push(await RawPeer.introduced(port));
  for (const peer of peers) peer.write(Buffer.concat([framed(MIB), body]));
  await until('refusals', () => peers.some(({ hasEnded }) => hasEnded));
  await until('what arrives', () => server.bytes.arriving <= 256 * KIB);
  const small = callingNode(port);
  const peer = await small.connected();
  expect(await peer.call(callOf('small'))).toEqual(reply('"small"'));
  for (const { socket } of peers) socket.destroy();
  await until('the ends', () => server.bytes.arriving === 0);
});

test('calls of other nodes count until they are done, and further ones are refused', async () => {
  const served = new ServedUnits(10_000);
  const { promise, resolve } = Promise.withResolvers<Reply>();
  const answer = served.during(9_000, () => promise);
  expect(served.units).toBe(9_000);
  const refused = (): unknown => served.during(1_001, () => reply('null'));
  expect(refused).toThrow(SvcError);
  expect(refused).toThrow('Try again later');
  resolve(reply('null'));
  await answer;
  expect(served.units).toBe(0);
  const failing = served.during(10_000, async () => {
    throw new Error('failed');
  });
  await expect(failing).rejects.toThrow('failed');
  expect(served.units).toBe(0);
  expect(served.during(10_000, () => reply('1'))).toEqual(reply('1'));
});

test('a call counts with its texts, and a request with its body', () => {
  expect(unitsOfCall(callOf('add', 'x'.repeat(100)))).toBeGreaterThan(1_124);
  const request = {
    route: 0,
    parameters: ['a'],
    query: '',
    headers: [],
    caller: 'internet',
  } as const;
  const units = (body: Parameters<typeof unitsOfRequest>[0]['body']) =>
    unitsOfRequest({ ...request, body }, []);
  const empty = units({ kind: 'none' });
  expect(units({ kind: 'text', text: 'x'.repeat(50) })).toBe(empty + 50);
  expect(units({ kind: 'bytes', bytes: new Uint8Array(70) })).toBe(empty + 70);
});

test('calls that a peer sends while others of it are worked on are refused beyond the bound, and it is served on', async () => {
  const { port } = await servingNode({
    bounds: BOUNDS,
    service: {
      serve: ([, name]) => (name === 'waits' ? new Promise(() => {}) : reply(`"${name}"`)),
    },
  });
  const { connected } = callingNode(port);
  const peer = await connected();
  const raw = await RawPeer.introduced(port);
  const input = 'x'.repeat(60 * KIB);
  for (let number = 0; number < 5; number++) {
    raw.send([KIND.call, number, 'c', 'a', 'waits', input, null, 0]);
  }
  await until('the refusal', () => raw.received.length === 2);
  expect(raw.received[1]!.slice(0, 3)).toEqual([KIND.svcError, 4, 'SVC_OVERLOADED']);
  expect(await peer.call(callOf('small'))).toEqual(reply('"small"'));
});

test('the frames of a turn are divided into messages of moderate size', () => {
  const gathered = new GatheredFrames();
  const call = callOf('add', 'x'.repeat(1_000));
  for (let number = 0; number < 3_000; number++)
    expect(gathered.add((frames) => writeCall(frames, number, call))).toBe(true);
  const messages = gathered.take();
  expect(messages.length).toBeGreaterThan(10);
  expect(messages.reduce((sum, { length }) => sum + length, 0)).toBe(3_000 * 10);
  expect(gathered.take()).toEqual([]);
});

test('a frame that no message can carry is not added, and those before it stay', () => {
  const gathered = new GatheredFrames();
  gathered.add((frames) => frames.push(1));
  expect(gathered.add((frames) => frames.push('x'.repeat(64 * MIB)))).toBe(false);
  expect(gathered.add((frames) => frames.push(...Array.from({ length: 60_000 }, () => null)))).toBe(
    false,
  );
  // Three bytes a unit would be too many, and this text has one.
  expect(gathered.add((frames) => frames.push('x'.repeat(63 * MIB)))).toBe(true);
  expect(gathered.take().flat()).toEqual([1, 'x'.repeat(63 * MIB)]);
});
