// Two proxies that speak mutual TLS with one another, each with a process on a raw socket: what the called or mounted process
// receives, and that nobody else gets a byte of a request.
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { connect, createServer as createRelay, type AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { createServer, type TlsOptions } from 'node:tls';
import { describe, expect, onTestFinished, test } from 'vitest';
import { MutualTlsConnector } from '../../forward/service-connector.ts';
import { SERVICE_PROTOCOLS } from '../../forward/tls-peer.ts';
import { ClientTls } from '../../identity/client-tls.ts';
import { ServerTls } from '../../identity/server-tls.ts';
import {
  ca,
  generationsOf,
  otherCa,
  RULES,
  textsOf,
} from '../support/certificates/test-identities.ts';
import { callSocketFile } from '../../kit/call-sockets.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { ForwardingPorts } from './support/forwarding-ports.ts';
import { SHOP } from './support/heads.ts';
import { proxyAnswer } from './support/raw-peer.ts';

const idOf = (service: string, project = 'shop') => `spiffe://td/ns/svc-${project}/sa/${service}`;
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const MOUNTS = [{ path: '/cart', service: 'cart' }];

/**
 * The proxy of the service web, which mounts cart. Its own port is plain. `certified`: the project that its certificate
 * names. `socketsFolder`: it calls by the sockets there.
 */
async function front(
  project = 'shop',
  certified = project,
  socketsFolder?: string,
): Promise<ForwardingPorts> {
  const source = generationsOf(await textsOf(idOf('web', certified)));
  return ForwardingPorts.open({
    own: { ...SHOP, project },
    mounts: MOUNTS,
    connector: new MutualTlsConnector(new ClientTls(source), RULES.trustDomain, socketsFolder),
  });
}

/** The proxy of the service cart, which admits the services. */
async function behind(...callers: readonly string[]): Promise<ForwardingPorts> {
  const source = generationsOf(await textsOf(idOf('cart')));
  const tls = new ServerTls(source, { rules: RULES, protocols: SERVICE_PROTOCOLS });
  return ForwardingPorts.open({ own: { ...SHOP, service: 'cart' }, callers, tls });
}

/** A TLS server that is not this project's, and the bytes of requests that it got. */
async function foreign(options: TlsOptions) {
  let received = '';
  const server = createServer({ ca: ca.certificate, requestCert: true, ...options }, (socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (bytes: Buffer) => {
      received += bytes.toString('latin1');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { port: (server.address() as AddressInfo).port, received: () => received };
}

describe('a call', () => {
  test('arrives with its caller and the address of the called service', async () => {
    const [web, cart] = [await front(), await behind('web')];
    web.services.set('cart', [cart.servicePort]);
    const client = await web.call(
      'POST /cart/items HTTP/1.1',
      'Host: x',
      'Content-Length: 2',
      '',
      'ab',
    );
    const process = await cart.process.next();
    expect(await process.message()).toEqual({
      lines: [
        'POST /items HTTP/1.1',
        'Host: cart.svc-shop.svc.cluster.local:9000',
        'Content-Length: 2',
        'X-Svc-Caller: service shop/web',
        'X-Forwarded-Proto: https',
        'X-Forwarded-Host: cart.svc-shop.svc.cluster.local:9000',
        'X-Forwarded-Port: 9000',
      ],
      body: 'ab',
    });
    process.write(OK);
    expect((await client.message()).body).toBe('ok');
  });

  test('of a service that is not admitted gets the answer of the proxy that refuses', async () => {
    const [web, cart] = [await front(), await behind()];
    web.services.set('cart', [cart.servicePort]);
    const client = await web.call('GET /cart HTTP/1.1', 'Host: x');
    expect(await proxyAnswer(client)).toMatch(/^403 The service shop\/web may not call/);
  });

  test('P31: reaches no service that is another one, or cannot prove who it is', async () => {
    const web = await front();
    const another = await ca.issue({ uris: [idOf('orders')] });
    const untrusted = await otherCa.issue({ uris: [idOf('cart')] });
    for (const { certificate, key } of [another, untrusted]) {
      const server = await foreign({ cert: certificate, key });
      web.services.set('cart', [server.port]);
      const client = await web.call('GET /cart HTTP/1.1', 'Host: x', 'Authorization: secret');
      expect(await proxyAnswer(client)).toMatch(
        /^502 The service that answers at the address of shop\/cart is another one/,
      );
      expect(server.received()).toBe('');
    }
  });
});

describe('a call by a socket', () => {
  test('arrives at the socket that has the name of the instance', async () => {
    const folder = temporaryFolder();
    const [web, cart] = [await front('shop', 'shop', folder), await behind('web')];
    const relay = createRelay((socket) => {
      const port = connect(cart.servicePort, '127.0.0.1');
      socket.on('error', () => port.destroy()).pipe(port);
      port.on('error', () => socket.destroy()).pipe(socket);
    });
    const file = callSocketFile(folder, 'shop', { host: '127.0.0.1', port: 9000 });
    mkdirSync(dirname(file));
    relay.listen(file);
    await once(relay, 'listening');
    onTestFinished(() => void relay.close());
    web.services.set('cart', [9000]);
    const client = await web.call('GET /cart/items HTTP/1.1', 'Host: x');
    const process = await cart.process.next();
    expect((await process.message()).lines).toContain('X-Svc-Caller: service shop/web');
    process.write(OK);
    expect((await client.message()).body).toBe('ok');
  });

  test('of an instance without a socket, or with one whose path is too long, is answered 503, and the log says why', async () => {
    const folder = temporaryFolder();
    for (const [sockets, reason] of [
      [folder, 'cart: refused (ENOENT)'],
      [
        join(folder, 'x'.repeat(100)),
        'cart: unreachable (the path of its socket is longer than 107 bytes)',
      ],
    ] as const) {
      const web = await front('shop', 'shop', sockets);
      web.services.set('cart', [9000]);
      const client = await web.call('GET /cart HTTP/1.1', 'Host: x');
      expect(await proxyAnswer(client)).toBe('503 The service shop/cart is not listening.');
      expect(web.reports).toEqual([reason]);
    }
  });
});

describe('a request under a mount', () => {
  test('arrives as one of the internet, at the address that the first proxy stated', async () => {
    const [web, cart] = [await front(), await behind()];
    web.services.set('cart', [cart.servicePort]);
    const client = await web.request(
      'GET /cart/items HTTP/1.1',
      'Host: shop.example.com',
      'X-Forwarded-For: 203.0.113.9',
    );
    const process = await cart.process.next();
    expect(await process.head()).toEqual([
      'GET /items HTTP/1.1',
      'Host: shop.example.com',
      'X-Forwarded-For: 203.0.113.9',
      'X-Svc-Caller: internet',
      'X-Forwarded-Proto: https',
      'X-Forwarded-Host: shop.example.com',
      'X-Forwarded-Port: 443',
    ]);
    process.write(OK);
    expect((await client.message()).body).toBe('ok');
  });

  test("is refused where it is another project's", async () => {
    const cart = await behind('web.bank');
    // One expects a service of its own project, which cart is not; the other one is configured to lie about its project.
    for (const [stranger, expected] of [
      [await front('bank'), /^502 .*bank\/cart is another one/],
      [await front('shop', 'bank'), /^403 The request is under another project's mount/],
    ] as const) {
      stranger.services.set('cart', [cart.servicePort]);
      const client = await stranger.request('GET /cart HTTP/1.1', 'Host: a');
      expect(await proxyAnswer(client)).toMatch(expected);
    }
    expect(cart.process.accepted).toBe(0);
  });

  test('reaches no service that does not know the protocol of mounts', async () => {
    const web = await front();
    const { certificate: cert, key } = await ca.issue({ uris: [idOf('cart')] });
    for (const options of [{}, { ALPNProtocols: ['http/1.1'] }]) {
      const server = await foreign({ cert, key, ...options });
      web.services.set('cart', [server.port]);
      const client = await web.request('GET /cart HTTP/1.1', 'Host: a', 'Authorization: secret');
      expect(await proxyAnswer(client)).toBe(
        '503 The service cart, which is mounted here, cannot be found or reached.',
      );
      expect(server.received()).toBe('');
    }
  });

  test('cannot be claimed by what an ordinary request says', async () => {
    const [web, cart] = [await front(), await behind('web')];
    web.services.set('cart', [cart.servicePort]);
    await web.call(
      'GET /cart HTTP/1.1',
      'Host: shop.example.com',
      'X-Forwarded-Host: shop.example.com',
      'X-Forwarded-For: 203.0.113.9',
      'X-Svc-Caller: internet',
      'X-Svc-Mount: 1',
    );
    const process = await cart.process.next();
    expect(await process.head()).toEqual([
      'GET / HTTP/1.1',
      'Host: cart.svc-shop.svc.cluster.local:9000',
      'X-Svc-Caller: service shop/web',
      'X-Forwarded-Proto: https',
      'X-Forwarded-Host: cart.svc-shop.svc.cluster.local:9000',
      'X-Forwarded-Port: 9000',
    ]);
  });
});
