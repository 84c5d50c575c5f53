// The HTTP server with mutual TLS, on real sockets: who its callers are, and what becomes of connections.
import { once } from 'node:events';
import { BoundSocket, connect as connectPlain, type Socket } from 'node:net';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { describe, expect, onTestFinished, test } from 'vitest';
import { callerName } from '../../../host/http/access.ts';
import { createHttpServer } from '../../../host/http/http-server.ts';
import { HTTP_SETTINGS_DEFAULT } from '../../../host/http/http-settings.ts';
import { MutualTls } from '../../../host/http/mutual-tls.ts';
import { RouteTable } from '../../../host/http/route-table.ts';
import { CONNECTION_AGE } from '../../../identity/connection-age.ts';
import type {
  CertificateAuthority,
  CertificateContents,
} from '../../support/certificates/certificate-authority.ts';
import {
  ca,
  CART,
  GATEWAY,
  generationsOf,
  ORDERS,
  otherCa,
  RULES,
  textsOf,
} from '../../support/certificates/test-identities.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { descriptorOf, gate, ok } from './http-harness.ts';

const BILLING = 'spiffe://td/ns/svc-bank/sa/billing';

async function startSecure(handle: () => unknown = () => undefined, age = CONNECTION_AGE) {
  const certificates = generationsOf(await textsOf(CART, ca, [ca, otherCa]));
  const tls = new MutualTls(certificates, 'shop', RULES, age);
  let seed = 0n;
  const server = createHttpServer({
    routes: new RouteTable(
      descriptorOf([['GET', '/carts/{id}']], {
        allow: 'services',
        services: ['orders', 'billing.bank'],
      }),
    ),
    handle: async ({ caller }) => {
      await handle();
      return ok(caller);
    },
    settings: HTTP_SETTINGS_DEFAULT,
    log: { warn: () => {}, error: () => {} },
    random: { next64: () => (seed += 1n) },
    callerOf: (socket) => tls.callerOf(socket),
    project: tls.project,
    tls,
  });
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(async () => void (await server.stop(0)));
  return { server, port, certificates };
}

interface ClientOptions {
  readonly issuer?: CertificateAuthority;
  readonly protocol?: string;
  /** Connection to use. */
  readonly below?: Socket;
}

async function connectAs(
  port: number,
  contents: CertificateContents,
  { issuer = ca, protocol = 'http/1.1', below }: ClientOptions = {},
): Promise<TLSSocket> {
  const { certificate: cert, key } = await issuer.issue(contents);
  const socket = connect({
    ...(below === undefined ? { port, host: '127.0.0.1' } : { socket: below }),
    ca: ca.certificate,
    checkServerIdentity: () => undefined,
    ALPNProtocols: [protocol],
    cert,
    key,
  });
  socket.on('error', () => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, 'secureConnect');
  return socket;
}

/** Resolves when a socket is closed, whatever the reason. */
function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => void socket.once('close', () => resolve()));
}

/** Sends a request, and resolves with its answer once the body has arrived. */
async function ask(socket: TLSSocket, path = '/carts/1') {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let text = '';
  const onData = (bytes: Buffer): void => {
    text += bytes.toString('latin1');
    const [head = '', body] = text.split('\r\n\r\n');
    const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1]);
    if (body !== undefined && body.length >= length) resolve(text);
  };
  const onClose = (): void => reject(new Error(`closed after: ${text}`));
  socket.on('data', onData).once('close', onClose);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: cart\r\n\r\n`);
  const answer = await promise;
  socket.off('data', onData).off('close', onClose);
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  return {
    status: Number(head.slice(9, 12)),
    body,
    closes: /^connection: close$/im.test(head),
  };
}

describe('a caller', () => {
  test.each([
    ['a service that the rule names', ORDERS, 200, 'service shop/orders'],
    ['a service of another project that it names', BILLING, 200, 'service bank/billing'],
    ['another service of the project', CART, 403, "The caller 'service shop/cart' is not"],
    [
      'a service of the same name elsewhere',
      ORDERS.replace('shop', 'bank'),
      403,
      'is not admitted',
    ],
    ['the gateway', GATEWAY, 403, "The caller 'internet' is not admitted"],
  ])('%s', async (_name, id, status, text) => {
    const { port } = await startSecure();
    const answer = await ask(await connectAs(port, { uris: [id] }));
    expect(answer).toMatchObject({ status, closes: false });
    expect(answer.body).toContain(text);
  });

  test.each(['/carts/1', '/nowhere', '/'])(
    'that its certificate does not name gets 403 for %s',
    async (path) => {
      const { port } = await startSecure();
      const answer = await ask(await connectAs(port, { dnsNames: ['orders'] }), path);
      expect(answer.status).toBe(403);
      expect(answer.body).toContain('The caller certificate is unrecognised. It names no URI.');
    },
  );

  test('without a certificate, or without TLS, reaches no handler', async () => {
    let handled = 0;
    const { port } = await startSecure(() => handled++);
    const anonymous = connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
    anonymous.on('error', () => {});
    anonymous.write('GET /carts/1 HTTP/1.1\r\nHost: cart\r\n\r\n');
    anonymous.resume();
    const plain = connectPlain(port, '127.0.0.1');
    plain.on('error', () => {});
    plain.write('GET /carts/1 HTTP/1.1\r\nHost: cart\r\n\r\n');
    plain.resume();
    await Promise.all([closed(anonymous), closed(plain)]);
    expect(handled).toBe(0);
  });
});

describe('under a mount', () => {
  test('of a service of the project the caller is the gateway, whatever the rule says of that service', async () => {
    const { port } = await startSecure();
    const socket = await connectAs(port, { uris: [ORDERS] }, { protocol: 'svc-mount/1' });
    expect(socket.alpnProtocol).toBe('svc-mount/1');
    const answer = await ask(socket);
    expect(answer.status).toBe(403);
    expect(answer.body).toContain(
      `The caller '${callerName({ kind: 'gateway' })}' is not admitted`,
    );
  });

  test.each([BILLING, GATEWAY])('of %s every request is refused', async (id) => {
    const { port } = await startSecure();
    const answer = await ask(await connectAs(port, { uris: [id] }, { protocol: 'svc-mount/1' }));
    expect(answer.status).toBe(403);
    expect(answer.body).toContain('services of its own project only');
  });
});

describe('a connection', () => {
  test('that began before an authority was removed closes after its current response', async () => {
    const { passed, open } = gate();
    const arrived = gate();
    const { port, certificates } = await startSecure(() => {
      arrived.open();
      return passed;
    });
    const socket = await connectAs(port, { uris: [ORDERS] }, { issuer: otherCa });
    const answer = ask(socket);
    await arrived.passed;
    certificates.offer(await textsOf(CART, ca, [ca]), Date.now());
    open();
    expect(await answer).toMatchObject({ status: 200, closes: true });
    await once(socket, 'close');
    const fresh = await connectAs(port, { uris: [ORDERS] });
    expect(await ask(fresh)).toMatchObject({ status: 200, closes: false });
    expect(await ask(fresh)).toMatchObject({ status: 200, closes: false });
  });

  test('that idles when an authority is removed is served one more request, or closes after a second', async () => {
    let handled = 0;
    const { server, port, certificates } = await startSecure(() => handled++);
    const [asking, silent] = [
      await connectAs(port, { uris: [ORDERS] }, { issuer: otherCa }),
      await connectAs(port, { uris: [ORDERS] }, { issuer: otherCa }),
    ];
    await ask(silent);
    expect(await ask(asking)).toMatchObject({ status: 200, body: 'service shop/orders' });
    certificates.offer(await textsOf(CART, ca, [ca, otherCa]), Date.now());
    expect(await ask(asking)).toMatchObject({ status: 200, closes: false });
    certificates.offer(await textsOf(CART, ca, [ca]), Date.now());
    const silentEnds = closed(silent.resume());
    // A caller that has not learned of it yet may have sent this one.
    expect(await ask(asking)).toMatchObject({ status: 200, closes: true });
    await expect(ask(asking)).rejects.toThrow('closed after: ');
    await silentEnds;
    expect(handled).toBe(4);
    expect(server.inFlight).toBe(0);
  });

  test('serves no request behind one that waits when an authority is removed', async () => {
    const { passed, open } = gate();
    const arrived = gate();
    let handled = 0;
    const { port, certificates } = await startSecure(() => {
      handled += 1;
      arrived.open();
      return passed;
    });
    const socket = await connectAs(port, { uris: [ORDERS] }, { issuer: otherCa });
    const answer = ask(socket);
    await arrived.passed;
    certificates.offer(await textsOf(CART, ca, [ca]), Date.now());
    socket.write('GET /carts/2 HTTP/1.1\r\nHost: cart\r\n\r\n');
    // The request has arrived once a later connection is served.
    const later = ask(await connectAs(port, { uris: [ORDERS] }));
    await expect.poll(() => handled).toBe(2);
    open();
    expect(await answer).toMatchObject({ status: 200, closes: true });
    expect(await later).toMatchObject({ status: 200 });
    await once(socket, 'close');
    expect(handled).toBe(2);
  });

  test('whose handshake began before an authority was removed is served one request', async () => {
    let handled = 0;
    const { port, certificates } = await startSecure(() => handled++);
    const below = connectPlain(port, '127.0.0.1');
    await once(below, 'connect');
    // The server has accepted the first connection when a later one is complete.
    await connectAs(port, { uris: [ORDERS] });
    certificates.offer(await textsOf(CART, ca, [ca]), Date.now());
    const socket = await connectAs(port, { uris: [ORDERS] }, { issuer: otherCa, below });
    // The client has the connection before it can know of the removal.
    expect(await ask(socket)).toMatchObject({ status: 200, closes: true });
    await expect(ask(socket)).rejects.toThrow('closed after: ');
    expect(handled).toBe(1);
  });

  test('that has reached its age closes after its current response', async () => {
    const { port } = await startSecure(() => undefined, { ageMs: 50, spread: 0 });
    const socket = await connectAs(port, { uris: [ORDERS] });
    let last = await ask(socket);
    while (!last.closes) last = await ask(socket);
    expect(last).toMatchObject({ status: 200 });
    await once(socket, 'close');
  });

  test('that idles when the server stops is served one more request', async () => {
    const { server, port } = await startSecure();
    const [used, unused] = [
      await connectAs(port, { uris: [ORDERS] }),
      await connectAs(port, { uris: [ORDERS] }),
    ];
    expect(await ask(used)).toMatchObject({ status: 200, closes: false });
    const stopped = server.stop(60_000);
    const ends = [closed(used), closed(unused)];
    expect(await ask(used)).toMatchObject({ status: 200, closes: true });
    await expect(connectAs(port, { uris: [ORDERS] })).rejects.toThrow('ECONNREFUSED');
    // The other one asks nothing, and does not hold up the stop.
    expect(await stopped).toEqual({ hasCut: false });
    await Promise.all(ends);
  });

  test('at a further socket is served like the others, and ends with them', async () => {
    const { server, port, certificates } = await startSecure();
    const path = join(temporaryFolder(), 'further.sock');
    // The server closes the descriptor. The types of Node lack the path.
    const bound = new BoundSocket({ path } as { readonly host?: string });
    await server.listenOn(bound.fd());
    const dial = async (issuer = ca) =>
      await connectAs(port, { uris: [ORDERS] }, { issuer, below: connectPlain(path) });
    const [former, other] = [await dial(otherCa), await dial()];
    for (const socket of [former, other])
      expect(await ask(socket)).toMatchObject({ status: 200, body: 'service shop/orders' });
    certificates.offer(await textsOf(CART, ca, [ca]), Date.now());
    expect(await ask(former)).toMatchObject({ status: 200, closes: true });
    const began = connectPlain(path);
    await once(began, 'connect');
    const fresh = await dial();
    expect(await ask(fresh)).toMatchObject({ status: 200, closes: false });
    const stopped = server.stop(60_000);
    const ends = [closed(fresh.resume()), closed(began.resume())];
    expect(await ask(fresh)).toMatchObject({ status: 200, closes: true });
    await expect(once(connectPlain(path), 'connect')).rejects.toThrow('ECONNREFUSED');
    expect(await stopped).toEqual({ hasCut: false });
    await Promise.all(ends);
  });

  test('that idles is closed at once by a stop without grace', async () => {
    const { server, port } = await startSecure();
    const socket = await connectAs(port, { uris: [ORDERS] });
    await ask(socket);
    expect(await server.stop(0)).toEqual({ hasCut: false });
    await expect(ask(socket)).rejects.toThrow('closed after: ');
  });

  test('whose handshake is under way does not hold up a stop', async () => {
    const { server, port } = await startSecure();
    const plain = connectPlain(port, '127.0.0.1');
    plain.on('error', () => {});
    await once(plain, 'connect');
    // The server has accepted the first connection when a later one is complete.
    await connectAs(port, { uris: [ORDERS] });
    expect(await server.stop(60_000)).toEqual({ hasCut: false });
  });
});
