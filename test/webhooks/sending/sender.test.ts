// One attempt against receivers that answer well, badly, slowly, or not at all.
import { setImmediate as turn } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { verifyWebhook } from '../../../client/webhooks/verify-webhook.ts';
import { NameServer } from '../../forward/support/name-server.ts';
import { deliveryTo, startReceiver, startSender } from './receiver-under-test.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
/** Long enough for anything but a receiver that does not answer. */
const SHORT_MS = 300;

test('a delivery is a POST with the body as it is, which the receiver verifies', async () => {
  const receiver = await startReceiver((socket) => socket.write(OK));
  const result = await startSender().attempt(
    deliveryTo(`${receiver.url}/hooks/a?b=c`, { headers: { Authorization: 'Bearer x' } }),
  );
  expect(result).toMatchObject({ isDelivered: true, status: 200, error: null });
  const [head, body] = receiver.received[0]!.text.split('\r\n\r\n') as [string, string];
  const [line, ...fields] = head.split('\r\n');
  expect(line).toBe('POST /hooks/a?b=c HTTP/1.1');
  const headers = fields.map((field) => field.split(': ', 2) as [string, string]);
  const names = headers.map(([name]) => name.toLowerCase()).toSorted();
  expect(names).toEqual([
    'authorization',
    'connection',
    'content-length',
    'content-type',
    'host',
    'x-hook-delivery',
    'x-hook-event',
    'x-hook-signature',
    'x-hook-timestamp',
  ]);
  expect(await verifyWebhook({ headers, secrets: ['secret'], body: Buffer.from(body) })).toEqual({
    kind: 'verified',
  });
});

test('W14: a path is signed as it is sent, without the query, and an empty one is a slash', async () => {
  const receiver = await startReceiver((socket) => socket.write(OK));
  const sender = startSender();
  for (const path of ['', '?a=b', '/a%2Fb/ü?c', '/a/../b']) {
    await sender.attempt(deliveryTo(`${receiver.url}${path}`, { over: 'path' }));
    await turn();
  }
  const requests = receiver.received
    .map(({ text }) => text)
    .join('')
    .split(/(?=POST )/);
  expect(requests.map((request) => request.split(' ', 2)[1])).toEqual([
    '/',
    '/?a=b',
    '/a%2Fb/%C3%BC?c',
    '/b',
  ]);
  for (const request of requests) {
    const fields = request.split('\r\n\r\n')[0]!.split('\r\n').slice(1);
    const headers = fields.map((field) => field.split(': ', 2) as [string, string]);
    expect(
      await verifyWebhook({ headers, secrets: ['secret'], path: request.split(' ', 2)[1]! }),
    ).toEqual({ kind: 'verified' });
  }
});

test.each([
  ['204', 'HTTP/1.1 204 No Content\r\n\r\n', { isDelivered: true, status: 204, error: null }],
  ['299', 'HTTP/1.1 299 X\r\nContent-Length: 0\r\n\r\n', { isDelivered: true, status: 299 }],
  [
    '103 before 200',
    `HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n${OK}`,
    { isDelivered: true, status: 200, error: null },
  ],
  [
    '400',
    'HTTP/1.1 400 X\r\nContent-Length: 0\r\n\r\n',
    { isDelivered: false, status: 400, error: null },
  ],
  [
    '410',
    'HTTP/1.1 410 X\r\nContent-Length: 0\r\n\r\n',
    { isDelivered: false, status: 410, error: null },
  ],
  [
    '500',
    'HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n',
    { isDelivered: false, status: 500, error: null },
  ],
  [
    'a 200 whose body breaks off',
    'HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nbroken',
    { isDelivered: true, status: 200, error: null },
  ],
  [
    'a body that is said to be compressed, and is not',
    'HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\nno',
    { isDelivered: true, status: 200, error: null },
  ],
  [
    '101',
    'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n',
    { isDelivered: false, status: null, error: 'protocol' },
  ],
  [
    '100 that nobody asked for',
    `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\nA: b\r\n\r\n${OK}`,
    { isDelivered: true, status: 200, error: null },
  ],
  [
    'informational responses without end',
    `${'HTTP/1.1 100 Continue\r\n\r\n'.repeat(17)}${OK}`,
    { status: null, error: 'protocol' },
  ],
  [
    'a head as large as it may be',
    `HTTP/1.1 200 OK\r\nContent-Length: 0\r\nA: ${'a'.repeat(16_384 - 43)}\r\n\r\n`,
    { isDelivered: true, status: 200, error: null },
  ],
  ['101 alone', `HTTP/1.1 101 X\r\n\r\n${OK}`, { status: null, error: 'protocol' }],
  ['no HTTP', 'SSH-2.0-OpenSSH_9.2\r\n', { status: null, error: 'protocol' }],
  ['205', 'HTTP/1.1 205 X\r\nContent-Length: 0\r\n\r\n', { isDelivered: true, status: 205 }],
  ['304', 'HTTP/1.1 304 X\r\n\r\n', { isDelivered: false, status: 304, error: 'redirect' }],
  ['399', 'HTTP/1.1 399 X\r\nContent-Length: 0\r\n\r\n', { status: 399, error: 'redirect' }],
  ['100 alone', 'HTTP/1.1 100 Continue\r\n\r\n', { status: null, error: 'connection_reset' }],
  ['103 alone', 'HTTP/1.1 103 X\r\n\r\n', { status: null, error: 'connection_reset' }],
  ['nothing', '', { status: null, error: 'connection_reset' }],
  ['half a head', 'HTTP/1.1 200 OK\r\nContent-', { status: null, error: 'connection_reset' }],
])('W7: the result of %s', async (_name, response, expected) => {
  const receiver = await startReceiver((socket) => socket.end(response));
  expect(await startSender().attempt(deliveryTo(receiver.url))).toMatchObject(expected);
  expect(receiver.received).toHaveLength(1);
});

test('W7: a redirect is an error, and nobody goes where it leads', async () => {
  const other = await startReceiver((socket) => socket.write(OK));
  const receiver = await startReceiver((socket) =>
    socket.end(`HTTP/1.1 307 X\r\nLocation: ${other.url}\r\nContent-Length: 0\r\n\r\n`),
  );
  expect(await startSender().attempt(deliveryTo(receiver.url))).toMatchObject({
    isDelivered: false,
    status: 307,
    error: 'redirect',
  });
  expect(other.received).toEqual([]);
});

describe('time', () => {
  test('W6: a receiver that does not answer is left after the time of an attempt', async () => {
    const receiver = await startReceiver(() => undefined);
    const sender = startSender({ attemptTimeoutMs: SHORT_MS });
    const result = await sender.attempt(deliveryTo(receiver.url));
    expect(result).toMatchObject({ isDelivered: false, status: null, error: 'timeout' });
    expect(result.durationMs).toBeGreaterThanOrEqual(SHORT_MS - 5);
    await expect.poll(() => receiver.received[0]!.isOpen).toBe(false);
  });

  test('W6: a receiver that sends a byte of its head now and then is left as well', async () => {
    const receiver = await startReceiver((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nA: ');
      const timer = setInterval(() => socket.write('a'), 20);
      socket.on('close', () => clearInterval(timer));
    });
    const sender = startSender({ attemptTimeoutMs: SHORT_MS });
    expect(await sender.attempt(deliveryTo(receiver.url))).toMatchObject({
      status: null,
      error: 'timeout',
    });
    await expect.poll(() => receiver.received[0]!.isOpen).toBe(false);
  });

  test('informational responses without end do not make it longer', async () => {
    const receiver = await startReceiver((socket) => {
      const timer = setInterval(() => socket.write('HTTP/1.1 103 X\r\n\r\n'), 20);
      socket.on('close', () => clearInterval(timer));
    });
    const sender = startSender({ attemptTimeoutMs: SHORT_MS });
    expect(await sender.attempt(deliveryTo(receiver.url))).toMatchObject({ error: 'timeout' });
  });

  test('W6: the head of an answer decides, and its body is left after the time of an attempt', async () => {
    const receiver = await startReceiver((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
      const timer = setInterval(() => socket.write('1\r\na\r\n'), 20);
      socket.on('close', () => clearInterval(timer));
    });
    const sender = startSender({ attemptTimeoutMs: SHORT_MS });
    const result = await sender.attempt(deliveryTo(receiver.url));
    expect(result).toMatchObject({ isDelivered: true, status: 200, error: null });
    expect(result.durationMs).toBeLessThan(SHORT_MS);
    await expect.poll(() => receiver.received[0]!.isOpen).toBe(false);
  });

  test('nothing is sent once the time of an attempt is over', async () => {
    const server = await NameServer.start({
      ttl: 0,
      srv: {},
      a: { 'slow.example': ['127.0.0.1'] },
    });
    onTestFinished(() => server[Symbol.asyncDispose]());
    server.fault = 'silent';
    const receiver = await startReceiver((socket) => socket.write(OK));
    const sender = startSender({
      attemptTimeoutMs: SHORT_MS,
      nameServers: [server.address],
      nameTimeoutMs: SHORT_MS + 50,
    });
    const url = `http://slow.example:${receiver.port}`;
    expect(await sender.attempt(deliveryTo(url))).toMatchObject({ error: 'timeout' });
    // The name server answers the second question, if it comes only now, and a connection is opened for nothing.
    server.fault = 'none';
    await expect.poll(() => server.asked.length).toBeGreaterThanOrEqual(4);
    const patient = startSender({ nameServers: [server.address] });
    const another = deliveryTo(url, { deliveryId: 'dlv_2' });
    expect(await patient.attempt(another)).toMatchObject({ isDelivered: true });
    const all = receiver.received.map(({ text }) => text).join('');
    expect(all.match(/x-hook-delivery: \S+/gi)).toEqual([expect.stringContaining('dlv_2')]);
  });
});

describe('bodies of answers', () => {
  test('W8: no more than the limit is read of a body, undecoded', async () => {
    let sent = 0;
    const bomb = gzipSync(Buffer.alloc(1_000_000));
    const receiver = await startReceiver((socket) => {
      socket.write(
        'HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 1000000000\r\n\r\n',
      );
      const more = (): void => {
        while (!socket.destroyed && socket.write(bomb)) sent += bomb.length;
        if (!socket.destroyed) socket.once('drain', more);
      };
      more();
    });
    expect(await startSender().attempt(deliveryTo(receiver.url))).toMatchObject({
      isDelivered: true,
      status: 200,
    });
    await expect.poll(() => receiver.received[0]!.isOpen).toBe(false);
    expect(sent).toBeLessThan(20_000_000);
  });
});

test.each([
  ['of 10 MB', `HTTP/1.1 200 OK\r\nA: ${'a'.repeat(10_000_000)}\r\n\r\n`],
  ['with many fields', `HTTP/1.1 200 OK\r\n${'A: b\r\n'.repeat(10_000)}\r\n`],
  ['with a long reason', `HTTP/1.1 200 ${'a'.repeat(16_384)}\r\n\r\n`],
  ['with much space', `HTTP/1.1 200 OK\r\nA:${' '.repeat(16_384)}b\r\nContent-Length: 0\r\n\r\n`],
  ['of an early hint', `HTTP/1.1 103 X\r\nA: ${'a'.repeat(16_384)}\r\n\r\n${OK}`],
])('W8: a head %s is refused', async (_name, response) => {
  const receiver = await startReceiver((socket) => socket.end(response));
  expect(await startSender().attempt(deliveryTo(receiver.url))).toMatchObject({
    status: null,
    error: 'protocol',
  });
  expect(receiver.received).toHaveLength(1);
});

test('W7: a 200 counts although the connection is reset behind it', async () => {
  const receiver = await startReceiver((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n', () => socket.resetAndDestroy());
  });
  expect(await startSender().attempt(deliveryTo(receiver.url))).toMatchObject({
    isDelivered: true,
    status: 200,
    error: null,
  });
});

test('W8: extensions of chunks are part of what is read of a body at most', async () => {
  let sent = 0;
  const chunk = Buffer.from(`1;${'a'.repeat(10_000)}\r\na\r\n`);
  const receiver = await startReceiver((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
    const more = (): void => {
      while (!socket.destroyed && socket.write(chunk)) sent += chunk.length;
      if (!socket.destroyed) socket.once('drain', more);
    };
    more();
  });
  const result = await startSender().attempt(deliveryTo(receiver.url));
  expect(result).toMatchObject({ isDelivered: true, status: 200, error: null });
  await expect.poll(() => receiver.received[0]!.isOpen).toBe(false);
  expect(sent).toBeLessThan(20_000_000);
});

describe('connections', () => {
  test('one is kept for the next attempt, and closed when it is idle', async () => {
    const receiver = await startReceiver((socket) => socket.write(OK));
    const sender = startSender({ idleTimeoutMs: 1_200 });
    for (let count = 0; count < 3; count++) {
      await sender.attempt(deliveryTo(receiver.url));
      // A connection can be used again after a turn of the event loop.
      await turn();
    }
    expect(receiver.received).toHaveLength(1);
    expect(receiver.received[0]!.text.match(/POST/g)).toHaveLength(3);
    await expect.poll(() => receiver.received[0]!.isOpen, { timeout: 10_000 }).toBe(false);
  });

  test('a request on one that the receiver ends is not sent a second time', async () => {
    const receiver = await startReceiver((socket, _request, number) => {
      if (number === 1 && !receiver.received[0]!.text.match(/POST[^]*POST/)) socket.write(OK);
      else socket.destroy();
    });
    const sender = startSender();
    expect(await sender.attempt(deliveryTo(receiver.url))).toMatchObject({ isDelivered: true });
    await turn();
    expect(await sender.attempt(deliveryTo(receiver.url))).toMatchObject({
      error: 'connection_reset',
    });
    expect(receiver.received).toHaveLength(1);
  });

  test('nobody listens', async () => {
    const sender = startSender();
    expect(await sender.attempt(deliveryTo('http://127.0.0.1:1024'))).toMatchObject({
      status: null,
      error: 'connect_refused',
    });
  });

  test('a proxy of the environment is not used', async () => {
    const proxy = await startReceiver((socket) => socket.write(OK));
    const receiver = await startReceiver((socket) => socket.write(OK));
    for (const name of ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'all_proxy'])
      vi.stubEnv(name, proxy.url);
    vi.stubEnv('NODE_USE_ENV_PROXY', '1');
    onTestFinished(() => void vi.unstubAllEnvs());
    await startSender().attempt(deliveryTo(receiver.url));
    expect(receiver.received).toHaveLength(1);
    expect(proxy.received).toEqual([]);
  });
});

describe('addresses', () => {
  const nobody = { networks: [], domains: [] };

  test('W10: a blocked address is not connected to', async () => {
    const receiver = await startReceiver((socket) => socket.write(OK));
    const sender = startSender({ admitted: nobody });
    for (const host of ['127.0.0.1', '2130706433', '0x7f.1', 'localhost', '[::ffff:127.0.0.1]'])
      expect(await sender.attempt(deliveryTo(`http://${host}:${receiver.port}/`))).toMatchObject({
        isDelivered: false,
        status: null,
        error: 'blocked_address',
      });
    expect(receiver.received).toEqual([]);
  });

  test('W10: a name that changes its address is checked for each connection', async () => {
    const server = await NameServer.start({ ttl: 0, srv: {}, a: {} });
    onTestFinished(() => server[Symbol.asyncDispose]());
    const receiver = await startReceiver((socket) => socket.end(OK));
    const sender = startSender({
      admitted: { networks: ['127.0.0.1/32'], domains: [] },
      nameServers: [server.address],
    });
    const delivery = deliveryTo(`http://moving.example:${receiver.port}/`);
    const outcomes: unknown[] = [];
    for (const address of ['127.0.0.1', '127.0.0.2', '127.0.0.1']) {
      server.zone = { ...server.zone, a: { 'moving.example': [address] } };
      const { isDelivered, error } = await sender.attempt(delivery);
      outcomes.push(isDelivered ? 'delivered' : error);
      // The receiver has ended the connection; the next attempt opens one.
      await expect.poll(() => receiver.received.some(({ isOpen }) => isOpen)).toBe(false);
      await turn();
    }
    expect(outcomes).toEqual(['delivered', 'blocked_address', 'delivered']);
    expect(receiver.received).toHaveLength(2);
  });

  test('a name that nobody knows', async () => {
    const server = await NameServer.start({ ttl: 0, srv: {}, a: {} });
    onTestFinished(() => server[Symbol.asyncDispose]());
    const sender = startSender({ nameServers: [server.address] });
    expect(await sender.attempt(deliveryTo('https://nobody.example/'))).toMatchObject({
      error: 'dns',
    });
  });
});
