// HeldPort: what the main thread answers on a port, and which clients it cuts.
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { HeldPort } from '../../../host/shards/held-port.ts';

/** Returns a port that was free a moment ago. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function held(requestTimeoutMs?: number) {
  const heldPort = new HeldPort(requestTimeoutMs);
  onTestFinished(async () => heldPort.release());
  const port = await freePort();
  heldPort.hold({ host: '127.0.0.1', port }, 1_000);
  return { heldPort, port };
}

/** Retries until a server listens. */
async function connected(port: number): Promise<Socket> {
  while (true) {
    const socket = connect(port, '127.0.0.1');
    try {
      await once(socket, 'connect');
      socket.on('error', () => {});
      return socket;
    } catch {
      // Nobody listens yet.
    }
  }
}

test('a connection that completes no request is cut', async () => {
  const { port } = await held(50);
  const [idle, slow] = [await connected(port), await connected(port)];
  slow.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\nab');
  await Promise.all([once(idle, 'close'), once(slow.resume(), 'close')]);
  expect([idle.closed, slow.closed]).toEqual([true, true]);
});

test('more than a hundred connections are not taken', async () => {
  const { port } = await held();
  const taken = await Promise.all(Array.from({ length: 100 }, async () => connected(port)));
  const further = await connected(port);
  await once(further.resume(), 'close');
  expect(taken.filter((socket) => socket.closed)).toEqual([]);
  for (const socket of taken) socket.destroy();
});

test('a header that is too large, and what is no HTTP, ends the connection without a word', async () => {
  const { port } = await held();
  const [large, odd] = [await connected(port), await connected(port)];
  large.write(`GET / HTTP/1.1\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`);
  odd.write('no HTTP\r\n\r\n');
  const closed = Promise.all([once(large, 'close'), once(odd, 'close')]);
  expect(await Promise.all([text(large).catch(() => ''), text(odd).catch(() => '')])).toEqual([
    '',
    '',
  ]);
  await closed;
});

test('a body that waits to be asked for is not asked for', async () => {
  const { port } = await held();
  const socket = await connected(port);
  socket.write('POST / HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 9\r\n\r\n');
  const answer = await text(socket);
  expect(answer).toMatch(/^HTTP\/1\.1 503 /);
  expect(answer).toMatch(/\r\nretry-after: 1\r\n/);
});

test('is released while a request is on its way', async () => {
  const { heldPort, port } = await held(1_000_000);
  const slow = await connected(port);
  slow.write('GET / HTTP/1.1\r\n');
  // Once this one is answered, the earlier one has been received.
  const other = await connected(port);
  other.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  expect(await text(other)).toMatch(/^HTTP\/1\.1 503 /);
  const closed = once(slow.resume(), 'close');
  await heldPort.release();
  await closed;
});

test('a port that another has is left to it', async () => {
  const other = createServer((socket) => socket.end('the other')).listen(0, '127.0.0.1');
  onTestFinished(() => void other.close());
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const heldPort = new HeldPort();
  heldPort.hold({ host: '127.0.0.1', port }, 1_000);
  await heldPort.release();
  expect(await text(connect(port, '127.0.0.1'))).toBe('the other');
});
