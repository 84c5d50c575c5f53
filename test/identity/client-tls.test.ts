// P31: a peer that is not the one asked for gets no byte of a request; and each failure of a connection by its name.
import { once } from 'node:events';
import { renameSync } from 'node:fs';
import { createServer as createPlainServer, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import type { TlsOptions } from 'node:tls';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ClientTls, type ConnectResult } from '../../identity/client-tls.ts';
import {
  ca,
  CART,
  generationsOf,
  ORDERS,
  otherCa,
  textsOf,
} from '../support/certificates/test-identities.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { answerOf, connectTo, startForeignServer, startServer } from './tls-harness.ts';

const cart = await textsOf(CART);
const orders = generationsOf(await textsOf(ORDERS));

function connected(result: ConnectResult) {
  if (result.kind === 'failed') throw new Error(JSON.stringify(result.failure));
  return result;
}

async function foreign(
  contents: Parameters<typeof ca.issue>[0],
  issuer = ca,
  options: TlsOptions = {},
) {
  const { certificate, key } = await issuer.issue(contents);
  return startForeignServer({
    cert: certificate,
    key,
    ca: ca.certificate,
    requestCert: true,
    ...options,
  });
}

/** A server that speaks no TLS. */
async function plainServer(onConnection: (socket: Socket) => void): Promise<number> {
  const server = createPlainServer(onConnection).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

describe('a connection', () => {
  test('to the service that was asked for is made', async () => {
    const { port } = await startServer(generationsOf(cart));
    const { socket, generation } = connected(await connectTo(orders, port));
    expect(generation).toBe(1);
    expect(await answerOf(socket)).toContain('"service":"orders"');
  });

  test('has the protocol that was asked for', async () => {
    const { port } = await startServer(generationsOf(cart), {
      protocols: ['http/1.1', 'svc-mount/1'],
    });
    const { socket } = connected(await connectTo(orders, port, { protocol: 'svc-mount/1' }));
    expect(await answerOf(socket)).toContain('"protocol":"svc-mount/1"');
  });

  test('is opened to a socket that is named, and its peer proves who it is there, too', async () => {
    const socketFile = join(temporaryFolder(), 'cart.sock');
    await startServer(generationsOf(cart), { protocols: ['svc-mount/1'] }, socketFile);
    const target = { host: '192.0.2.1', socketFile, protocol: 'svc-mount/1' };
    const { socket } = connected(await connectTo(orders, 1, target));
    expect(await answerOf(socket)).toContain('"service":"orders"');
    expect(await connectTo(orders, 1, { ...target, expectedId: ORDERS })).toMatchObject({
      failure: { kind: 'other-identity' },
    });
  });

  test('reads into a buffer of the caller', async () => {
    const { port } = await startServer(generationsOf(cart));
    const { promise, resolve } = Promise.withResolvers<string>();
    const onread = {
      buffer: Buffer.alloc(1000),
      callback: (count: number, bytes: Uint8Array) => {
        resolve(Buffer.from(bytes.subarray(0, count)).toString());
        return true;
      },
    };
    const { socket } = connected(await connectTo(orders, port, { onread }));
    socket.write('x');
    expect(await promise).toContain('"service":"orders"');
  });
});

test('a connection that is cancelled during its handshake is closed at once, and nothing is reported', async () => {
  const begun = Promise.withResolvers<Socket>();
  const port = await plainServer((socket) => begun.resolve(socket.on('error', () => {})));
  const results: ConnectResult[] = [];
  const cancel = new ClientTls(orders, 1_000_000_000).connect(
    { host: '127.0.0.1', port, expectedId: CART },
    (result) => void results.push(result),
  );
  const socket = await begun.promise;
  const closed = once(socket.resume(), 'close');
  cancel();
  await closed;
  cancel();
  expect(results).toEqual([]);
});

describe('a server that is not the one asked for gets no byte:', () => {
  test.each<[string, Parameters<typeof foreign>, string]>([
    ['another service', [{ uris: [ORDERS] }], 'other-identity'],
    ['a service whose name goes on', [{ uris: [`${CART}2`] }], 'other-identity'],
    [
      'a service of another trust domain',
      [{ uris: [CART.replace('td', 'td2')] }],
      'other-identity',
    ],
    ['two URIs', [{ uris: [CART, ORDERS] }], 'other-identity'],
    ['the id as a DNS name', [{ dnsNames: [CART] }], 'other-identity'],
    ['the id inside of another URI', [{ uris: [`spiffe://x, URI:${CART}`] }], 'other-identity'],
    ['a certificate authority', [{ uris: [CART], isAuthority: true }], 'other-identity'],
    ['the certificate of another authority', [{ uris: [CART] }, otherCa], 'untrusted'],
    ['an expired certificate', [{ uris: [CART], to: new Date(Date.now() - 1000) }], 'untrusted'],
    ['TLS 1.2', [{ uris: [CART] }, ca, { maxVersion: 'TLSv1.2' }], 'untrusted'],
  ])('%s', async (_name, server, kind) => {
    const { port, received } = await foreign(...server);
    const result = await connectTo(orders, port);
    expect(result).toEqual({ kind: 'failed', failure: { kind, detail: expect.any(String) } });
    expect(received()).toBe('');
  });

  test('the session that a server offers is not resumed', async () => {
    const server = await foreign({ uris: [CART] });
    for (let i = 0; i < 3; i++) {
      const { socket } = connected(await connectTo(orders, server.port));
      const offered = once(socket, 'session');
      expect(await answerOf(socket)).toBe('reached');
      await offered;
      expect(socket.isSessionReused()).toBe(false);
      expect(server.sockets[i]!.isSessionReused()).toBe(false);
      socket.destroy();
    }
  });
});

describe('without the protocol that was asked for', () => {
  test.each<[string, TlsOptions]>([
    ['a server with other protocols refuses', { ALPNProtocols: ['http/1.1'] }],
    ['a server without protocols is refused', {}],
  ])('%s', async (_name, options) => {
    const { port, received } = await foreign({ uris: [CART] }, ca, options);
    const result = await connectTo(orders, port, { protocol: 'svc-mount/1' });
    expect(result).toMatchObject({ failure: { kind: 'protocol-not-selected' } });
    expect(received()).toBe('');
  });
});

test('a server that refuses the certificate closes the connection before its first answer', async () => {
  const stranger = generationsOf(await textsOf(ORDERS, otherCa, [ca]));
  const { port, received } = await startServer(generationsOf(cart));
  const { socket } = connected(await connectTo(stranger, port));
  expect(await answerOf(socket)).toBe('closed');
  expect(received()).toBe('');
});

describe('a failure is', () => {
  test('refused, if nothing listens', async () => {
    const { port, server } = await foreign({ uris: [CART] });
    server.close();
    await once(server, 'close');
    expect(await connectTo(orders, port)).toEqual({
      kind: 'failed',
      failure: { kind: 'refused', detail: 'ECONNREFUSED' },
    });
  });

  test('refused, if a socket is missing or nobody listens at it', async () => {
    const socketFile = join(temporaryFolder(), 'cart.sock');
    expect(await connectTo(orders, 1, { socketFile })).toMatchObject({
      failure: { kind: 'refused', detail: 'ENOENT' },
    });
    const { server } = await startServer(generationsOf(cart), {}, `${socketFile}.new`);
    // The file is not removed with its server under another name.
    renameSync(`${socketFile}.new`, socketFile);
    server.close();
    await once(server, 'close');
    expect(await connectTo(orders, 1, { socketFile })).toMatchObject({
      failure: { kind: 'refused', detail: 'ECONNREFUSED' },
    });
  });

  test('unreachable, if the name has no address', async () => {
    const result = await connectTo(orders, 1, { host: 'nowhere.invalid' });
    expect(result).toMatchObject({ failure: { kind: 'unreachable' } });
  });

  test('timed-out, if the handshake does not end in time', async () => {
    const port = await plainServer((socket) => onTestFinished(() => void socket.destroy()));
    const result = await connectTo(orders, port, {}, 50);
    expect(result).toMatchObject({ failure: { kind: 'timed-out', detail: '50 ms' } });
  });

  test('closed, if the peer closes during the handshake', async () => {
    const port = await plainServer((socket) => socket.destroy());
    expect(await connectTo(orders, port)).toMatchObject({ failure: { kind: 'closed' } });
  });

  test('untrusted, if the peer speaks no TLS', async () => {
    const port = await plainServer((socket) => {
      socket.on('error', () => {});
      socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
    });
    expect(await connectTo(orders, port)).toMatchObject({ failure: { kind: 'untrusted' } });
  });
});
