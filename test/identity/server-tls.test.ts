// P30 on real sockets, and what a server does with sessions and new certificates.
import { once } from 'node:events';
import { connect as connectPlain } from 'node:net';
import { connect, type ConnectionOptions } from 'node:tls';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Peer } from '../../identity/server-tls.ts';
import type { CertificateContents } from '../support/certificates/certificate-authority.ts';
import {
  ca,
  CART,
  GATEWAY,
  generationsOf,
  ORDERS,
  otherCa,
  textsOf,
} from '../support/certificates/test-identities.ts';
import { answerOf, askRaw, connectTo, startServer } from './tls-harness.ts';

const cart = await textsOf(CART);
const orders = await textsOf(ORDERS);

async function issued(contents: CertificateContents, issuer = ca): Promise<ConnectionOptions> {
  const { certificate, key } = await issuer.issue(contents);
  return { cert: certificate, key };
}

describe('a client', () => {
  test('with the certificate of a service is that service, with the gateway’s it is the internet', async () => {
    const { port } = await startServer(generationsOf(cart));
    const peers = [
      await askRaw(port, await issued({ uris: [ORDERS] })),
      await askRaw(port, await issued({ uris: [GATEWAY] })),
    ].map((answer) => (JSON.parse(answer) as Peer).caller);
    expect(peers).toEqual([
      { kind: 'service', project: 'shop', service: 'orders' },
      { kind: 'internet' },
    ]);
  });

  test('whose certificate names no caller is connected, and has none', async () => {
    const { port } = await startServer(generationsOf(cart));
    for (const contents of [
      {},
      { uris: [ORDERS, GATEWAY] },
      { dnsNames: [GATEWAY] },
      { uris: [`spiffe://td/x, URI:${GATEWAY}`] },
      { uris: ['spiffe://td2/ns/svc-shop/sa/orders'] },
      { uris: [ORDERS], isAuthority: true },
      { uris: [`spiffe://td/${'a'.repeat(2048)}`] },
    ])
      expect(JSON.parse(await askRaw(port, await issued(contents)))).toEqual({
        reason: expect.any(String),
        term: expect.any(Object),
      });
  });

  test.each<[string, () => Promise<ConnectionOptions>, string]>([
    ['without a certificate', async () => ({}), 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED'],
    [
      'with an expired certificate',
      () => issued({ uris: [ORDERS], to: new Date(Date.now() - 1000) }),
      'closed',
    ],
    [
      'with a certificate of another authority',
      () => issued({ uris: [GATEWAY] }, otherCa),
      'closed',
    ],
    [
      'that speaks TLS 1.2',
      async () => ({ ...(await issued({ uris: [ORDERS] })), maxVersion: 'TLSv1.2' }),
      'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION',
    ],
  ])('%s gets no further than the handshake', async (_name, options, code) => {
    const server = await startServer(generationsOf(cart));
    expect(await askRaw(server.port, await options())).toBe(code);
    expect(server.sockets).toEqual([]);
    await expect.poll(() => server.tls.handshakes).toBe(0);
  });

  test('that begins no handshake is disconnected in time', async () => {
    const server = await startServer(generationsOf(cart), { handshakeTimeoutMs: 50 });
    const socket = connectPlain(server.port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.on('error', () => {});
    await once(socket, 'close');
    await expect.poll(() => server.tls.handshakes).toBe(0);
  });

  test('that has sent its last byte still gets an answer', async () => {
    const { port } = await startServer(generationsOf(cart));
    const socket = connect({
      port,
      host: '127.0.0.1',
      ca: cart.authorities,
      checkServerIdentity: () => undefined,
      allowHalfOpen: true,
      ...(await issued({ uris: [ORDERS] })),
    } as ConnectionOptions);
    onTestFinished(() => void socket.destroy());
    socket.end('x');
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toContain('orders');
  });

  test('cannot resume a session: it proves its identity with each connection', async () => {
    const { port, server } = await startServer(generationsOf(cart));
    const options = {
      port,
      host: '127.0.0.1',
      ca: cart.authorities,
      checkServerIdentity: () => undefined,
    };
    const own = await issued({ uris: [ORDERS] });
    const first = connect({ ...options, ...own });
    onTestFinished(() => void first.destroy());
    const session = new Promise<Buffer>((resolve) => first.once('session', resolve));
    await answerOf(first);
    const resumed = connect({ ...options, ...own, session: await session });
    onTestFinished(() => void resumed.destroy());
    expect(await answerOf(resumed)).toContain('orders');
    expect(resumed.isSessionReused()).toBe(false);
    const anonymous = connect({ ...options, session: await session });
    onTestFinished(() => void anonymous.destroy());
    expect(await answerOf(anonymous)).toBe('ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED');
    expect(server.listening).toBe(true);
  });
});

describe('protocols', () => {
  test.each([
    [['svc-mount/1'], 'svc-mount/1'],
    [['http/1.1'], 'http/1.1'],
    [['svc-mount/1', 'http/1.1'], 'http/1.1'],
    [undefined, undefined],
  ])('%s leads to %s', async (offered, selected) => {
    const { port } = await startServer(generationsOf(cart), {
      protocols: ['http/1.1', 'svc-mount/1'],
    });
    const answer = await askRaw(port, {
      ...(await issued({ uris: [ORDERS] })),
      ...(offered === undefined ? {} : { ALPNProtocols: offered }),
    });
    expect((JSON.parse(answer) as { protocol?: string }).protocol).toBe(selected);
  });

  test('a protocol that the server does not know is refused in the handshake', async () => {
    const { port, sockets } = await startServer(generationsOf(cart), { protocols: ['http/1.1'] });
    const options = { ...(await issued({ uris: [ORDERS] })), ALPNProtocols: ['h2'] };
    expect(await askRaw(port, options)).toBe('ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL');
    expect(sockets).toEqual([]);
  });
});

describe('new certificates of the server', () => {
  test('apply to new connections at once, and a connection keeps the generation with which it began', async () => {
    const source = generationsOf(cart);
    const server = await startServer(source);
    const client = generationsOf(orders);
    const before = await connectTo(client, server.port);
    const renewed = await textsOf(CART);
    source.offer(renewed, Date.now());
    const after = await connectTo(client, server.port);
    if (before.kind === 'failed' || after.kind === 'failed') throw new Error('not connected');
    const shown = after.socket.getPeerX509Certificate()!.toString();
    expect(shown).toBe(renewed.certificate);
    expect(await answerOf(before.socket)).toContain('"generation":1,');
    expect(await answerOf(after.socket)).toContain('"generation":2,');
  });

  test('a handshake that began before an authority was removed has the generation before', async () => {
    const source = generationsOf(await textsOf(CART, ca, [ca, otherCa]));
    const server = await startServer(source);
    const raw = connectPlain(server.port, '127.0.0.1');
    onTestFinished(() => void raw.destroy());
    await expect.poll(() => server.tls.handshakes).toBe(1);
    source.offer(await textsOf(CART, ca, [ca]), Date.now());
    const own = await issued({ uris: [ORDERS] }, otherCa);
    const socket = connect({ socket: raw, rejectUnauthorized: false, ...own });
    onTestFinished(() => void socket.destroy());
    expect(await answerOf(socket)).toContain('"generation":1,');
    expect(source.current.authorityRemovedIn).toBe(2);
    expect(await askRaw(server.port, own)).toBe('closed');
  });
});
