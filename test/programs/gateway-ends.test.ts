// What the gateway does when an instance or a client fails in the middle: what is sent twice and what is not, times, and holds.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { writeCertificates } from '../support/certificates/certificate-files.ts';
import { CertificateAuthority } from '../support/certificates/certificate-authority.ts';
import type { RouteServer } from '../../routing/route-server.ts';
import type { RoutedInstance } from '../../routing/route-table.ts';
import type { RawPeer } from '../forward/support/raw-peer.ts';
import {
  DOMAIN,
  exposed,
  install,
  type Installation,
  startInstance,
  startRouteServer,
  TestGateway,
} from '../support/gateway/test-gateway.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';

const CART = `cart-shop.${DOMAIN}`;
const folder = temporaryFolderOfFile();
let installation: Installation;
let routes: RouteServer;
let gateway: TestGateway;
let cart: RoutedInstance;
/** Requests that have arrived at the instance. */
let arrived: IncomingMessage[] = [];
let answer: (request: IncomingMessage, response: ServerResponse) => void;

beforeAll(async () => {
  installation = await install(folder);
  routes = await startRouteServer(installation);
  const { server, ...instance } = await startInstance(installation, 'cart', (request, response) => {
    arrived.push(request);
    answer(request, response);
  });
  cart = instance;
  gateway = await TestGateway.start(installation, {
    'svc.gateway.answer-timeout-ms': '200',
    'svc.gateway.held-of-service-max': '2',
  });
  await vi.waitUntil(() => routes.routers === 1);
  return async () => {
    await gateway.svc.end('SIGKILL');
    await routes.close();
    server.closeAllConnections();
    server.close();
  };
});

beforeEach(async () => {
  await routes.publish([exposed('cart', [cart])]);
  arrived = [];
  answer = (_request, response) => response.end('answer');
});

/** Opens a connection to the gateway that ends with the test. */
async function client(): Promise<RawPeer> {
  const peer = await gateway.connect(CART);
  onTestFinished(() => void peer.socket.destroy());
  return peer;
}

function send(peer: RawPeer, line: string, ...fields: readonly string[]): void {
  peer.write([`${line} HTTP/1.1`, `Host: ${CART}`, ...fields, '', ''].join('\r\n'));
}

test('a GET whose connection closed before a response is sent once more, and no more', async () => {
  answer = ({ socket }, response) => {
    if (arrived.length === 1) socket.destroy();
    else response.end('second');
  };
  const peer = await client();
  send(peer, 'GET /');
  expect((await peer.message()).body).toBe('second');
  arrived = [];
  answer = ({ socket }) => socket.destroy();
  send(peer, 'GET /');
  const { lines } = await peer.message();
  expect([lines[0], arrived.length]).toEqual(['HTTP/1.1 502 Bad Gateway', 2]);
});

test('a POST whose connection closed before a response is not sent again', async () => {
  answer = ({ socket }) => socket.destroy();
  const peer = await client();
  send(peer, 'POST /', 'Content-Length: 0');
  const { lines, body } = await peer.message();
  expect([lines[0], arrived.length]).toEqual(['HTTP/1.1 502 Bad Gateway', 1]);
  expect(body).toContain('closed the connection before it answered');
});

test('an instance that does not begin to answer in time is 504', async () => {
  answer = () => undefined;
  const peer = await client();
  send(peer, 'GET /');
  const { lines, body } = await peer.message();
  expect(lines[0]).toBe('HTTP/1.1 504 Gateway Timeout');
  expect(body).toBe('{"error":"The service did not begin to answer within 0.2 seconds."}');
});

test('bodies stream both ways', async () => {
  answer = (request, response) => {
    request.on('data', (bytes: Buffer) => response.write(bytes));
    request.on('end', () => response.end());
  };
  const peer = await client();
  send(peer, 'POST /', 'Transfer-Encoding: chunked');
  peer.write('5\r\nfirst\r\n');
  expect(await peer.take('first\r\n')).toContain('200 OK');
  peer.write('6\r\nsecond\r\n0\r\n\r\n');
  expect(await peer.take('0\r\n\r\n')).toContain('second');
});

test('a held request does not read its body, and one whose client has gone makes room', async () => {
  const { settled, release } = routes.hold('shop/cart');
  await settled;
  const first = await client();
  send(first, 'POST /', 'Content-Length: 67108864');
  const megabyte = Buffer.alloc(1024 * 1024, 'a');
  let isFull = false;
  for (let count = 0; count < 64 && !isFull; count++) isFull = !first.socket.write(megabyte);
  expect(isFull).toBe(true);
  const second = await client();
  send(second, 'GET /2');
  expect(await third()).toEqual(['HTTP/1.1 503 Service Unavailable', true]);
  second.socket.destroy();
  const next = await client();
  // The gateway learns of the client's end in its own time.
  await vi.waitFor(async () => {
    send(next, 'GET /4');
    await expect(Promise.race([next.head(), waited()])).resolves.toBe('held');
  });
  expect(arrived).toEqual([]);
  release();
  expect(await next.take('answer')).toContain('HTTP/1.1 200 OK');
  expect(arrived.map(({ url }) => url)).not.toContain('/2');
});

/** Sends a request beyond those that may be held; returns its status line, and whether it may come again in a second. */
async function third(): Promise<readonly [string | undefined, boolean]> {
  const peer = await client();
  send(peer, 'GET /3');
  const { lines } = await peer.message();
  return [lines[0], lines.includes('Retry-After: 1')];
}

/** Resolves when a request is held, since nothing answers it. */
async function waited(): Promise<string> {
  await sleep(100);
  return 'held';
}

test('an identity that is renewed under another authority is used for the next connection', async () => {
  const other = await CertificateAuthority.create('other');
  const issued = await other.issue({ uris: [`spiffe://${DOMAIN}/gateway`] });
  const before = await installation.identities.issue({ uris: [`spiffe://${DOMAIN}/gateway`] });
  const authorities = installation.identities.certificate;
  const use = async (own: typeof issued): Promise<void> => {
    const { length } = gateway.svc.stderr;
    writeCertificates(join(folder, 'identity'), { ...own, authorities });
    await vi.waitUntil(
      () => gateway.svc.stderr.slice(length).includes('New certificates are in use'),
      15_000,
    );
  };
  expect((await gateway.get(CART)).status).toBe(200);
  await use(issued);
  // The instance does not trust the other authority.
  expect((await gateway.get(CART)).status).toBe(502);
  await use(before);
  expect((await gateway.get(CART)).status).toBe(200);
});
