// The gateway as a program: routing, header rules, hostnames and certificates, holds, redirects, the platform's hostnames, and its stop.
import { once } from 'node:events';
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import type { RouteServer } from '../../routing/route-server.ts';
import type { RoutedInstance } from '../../routing/route-table.ts';
import {
  certify,
  DOMAIN,
  exposed,
  idOf,
  install,
  type Installation,
  startInstance,
  startRouteServer,
  TestGateway,
} from '../support/gateway/test-gateway.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';
import { dialTcp } from '../support/web-pods/web-pod.ts';

const CART = `cart-shop.${DOMAIN}`;
const folder = temporaryFolderOfFile();
let installation: Installation;
let routes: RouteServer;
let gateway: TestGateway;
let cart: RoutedInstance;
let plainPort: number;
/** Answers requests to the instance `cart`. */
let answerCart: (request: IncomingMessage, response: ServerResponse) => void = echo;
const ends: (() => void)[] = [];

/** Answers with the names and values of the fields that have arrived. */
function echo({ method, url, rawHeaders }: IncomingMessage, response: ServerResponse): void {
  response.setHeader('X-Svc-Answered-By', 'gateway');
  response.end(JSON.stringify({ method, url, rawHeaders }));
}

async function freePort(): Promise<number> {
  const server = createTcpServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

beforeAll(async () => {
  installation = await install(folder);
  routes = await startRouteServer(installation);
  const api = createHttpServer(echo).listen(0, '127.0.0.1');
  await once(api, 'listening');
  const webhooks = createHttpServer((_request, response) => void response.end('webhooks'));
  await once(webhooks.listen(0, '127.0.0.1'), 'listening');
  const { server, ...instance } = await startInstance(installation, 'cart', (request, response) =>
    answerCart(request, response),
  );
  cart = instance;
  ends.push(
    () => void api.close(),
    () => void webhooks.close(),
    () => server.closeAllConnections(),
    () => void server.close(),
  );
  plainPort = await freePort();
  gateway = await TestGateway.start(installation, {
    'svc.gateway.plain-port': String(plainPort),
    'svc.gateway.api-url': `http://127.0.0.1:${(api.address() as AddressInfo).port}`,
    'svc.gateway.webhooks-url': `http://127.0.0.1:${(webhooks.address() as AddressInfo).port}`,
    'svc.gateway.login-url': 'http://127.0.0.1:1',
  });
  await gateway.portOf('http');
  await vi.waitUntil(() => routes.routers === 1);
});

afterEach(() => {
  answerCart = echo;
});

afterAll(async () => {
  await gateway.svc.end('SIGKILL');
  await routes.close();
  for (const end of ends) end();
});

async function publishCart(changes: Parameters<typeof exposed>[2] = {}): Promise<void> {
  expect(await routes.publish([exposed('cart', [cart], changes)])).toEqual({ missing: [] });
}

/** Returns the status line for a host on a connection with the server name. */
async function statusAt(servername: string | undefined, host: string): Promise<string> {
  const client = await gateway.connect(servername);
  client.write(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  const { lines } = await client.message();
  client.socket.destroy();
  return lines[0]!;
}

async function askPlain(request: string): Promise<readonly string[]> {
  const client = await dialTcp(plainPort);
  client.write(request);
  const { lines } = await client.message();
  client.socket.destroy();
  return lines;
}

function errorOf({ status, lines, body }: Awaited<ReturnType<TestGateway['get']>>): string {
  expect(lines).toContain('X-Svc-Answered-By: gateway');
  return `${status} ${(JSON.parse(body) as { readonly error: string }).error}`;
}

test('a request of the internet reaches the instance of the service that is exposed at its hostname', async () => {
  answerCart = echo;
  await publishCart({ hostnames: [CART, `cart.${DOMAIN}`] });
  for (const hostname of [CART, `cart.${DOMAIN}`]) {
    const { status, lines, body } = await gateway.get(hostname);
    expect(status).toBe(200);
    // The mark of the gateway is its own.
    expect(lines.join('\n')).not.toContain('X-Svc-Answered-By');
    expect(JSON.parse(body)).toMatchObject({ method: 'GET', url: '/' });
    expect(body).toContain(`"Host","${hostname}"`);
  }
});

test('what only the platform may say is removed in every spelling, and the client is added to X-Forwarded-For', async () => {
  await publishCart();
  const { body } = await gateway.get(CART, [
    'X-Svc-Caller: service shop/orders',
    'x_svc_caller: a',
    'X.SVC.Caller: b',
    'X-Svc-Answered-By: proxy',
    'Forwarded: for=1.2.3.4',
    'X-Forwarded-Host: evil.test',
    'X_Forwarded_For: 6.6.6.6',
    'X-Forwarded-For: 1.1.1.1',
    'X-Forwarded-For: 2.2.2.2',
    'TE: trailers',
    'Keep-Alive: timeout=1',
    'Upgrade: websocket',
    'X-Kept: yes',
  ]);
  const { rawHeaders } = JSON.parse(body) as { readonly rawHeaders: readonly string[] };
  expect(rawHeaders).toEqual([
    'Host',
    CART,
    'X-Kept',
    'yes',
    'X-Forwarded-For',
    '1.1.1.1, 2.2.2.2, 127.0.0.1',
    'X-Forwarded-Proto',
    'https',
    'X-Forwarded-Host',
    CART,
    'X-Forwarded-Port',
    '443',
  ]);
});

test('a hostname without a service that can answer says why', async () => {
  expect(errorOf(await gateway.get(`nobody.${DOMAIN}`))).toBe(
    '404 No service is exposed at this hostname.',
  );
  await publishCart({ state: 'paused' });
  expect(errorOf(await gateway.get(CART))).toBe('503 The service is paused.');
  await publishCart({ state: 'suspended' });
  expect(errorOf(await gateway.get(CART))).toBe('503 The service is suspended.');
  await publishCart({ instances: [] });
  expect(errorOf(await gateway.get(CART))).toBe('503 No instance of the service is ready.');
  await publishCart({ instances: [{ ...cart, port: 1 }] });
  expect(errorOf(await gateway.get(CART))).toBe('503 No instance of the service can be reached.');
});

test('an instance that cannot be reached is passed over', async () => {
  const dead = { name: 'cart-1-dead', address: '127.0.0.1', port: 1 };
  await publishCart({ instances: [dead, cart] });
  for (let count = 0; count < 4; count++) expect((await gateway.get(CART)).status).toBe(200);
});

test('whoever cannot prove to be the service receives nothing of a request', async () => {
  const reached = vi.fn<() => void>();
  const stranger = await startInstance(installation, 'orders', reached);
  ends.push(() => void stranger.server.close());
  const { server: _server, ...instance } = stranger;
  await publishCart({ instances: [instance] });
  expect(errorOf(await gateway.get(CART))).toMatch(/^502 The peer at the address/);
  expect(reached).not.toHaveBeenCalled();
  await gateway.svc.logged(new RegExp(idOf('orders')));
});

test('a host that is not one of the connection is misdirected', async () => {
  await publishCart({ hostnames: [CART, 'shop.example'] });
  for (const host of [CART, `${CART}:8443`, `${CART}.`, CART.toUpperCase()])
    expect(await statusAt(CART, host)).toBe('HTTP/1.1 200 OK');
  expect(await statusAt(undefined, CART)).toBe('HTTP/1.1 200 OK');
  const misdirected = 'HTTP/1.1 421 Misdirected Request';
  expect(await statusAt(CART, `other-shop.${DOMAIN}`)).toBe(misdirected);
  // The default certificate does not name this host.
  expect(await statusAt('shop.example', 'shop.example')).toBe(misdirected);
  expect(await statusAt(undefined, 'shop.example')).toBe(misdirected);
  expect(await statusAt(undefined, '127.0.0.1')).toBe(misdirected);
  expect(await statusAt(`a.b.${DOMAIN}`, `a.b.${DOMAIN}`)).toBe(misdirected);
  expect(await statusAt(CART, `user@${CART}`)).toBe('HTTP/1.1 400 Bad Request');
});

test('a certificate that is put into the folder serves its hostname, and one without its key does not disturb it', async () => {
  await publishCart({ hostnames: ['shop.example'] });
  await certify(installation, 'shop', { dnsNames: ['shop.example'] });
  await gateway.svc.logged(/"name":"shop".*A certificate is in use/);
  const client = await gateway.connect('shop.example', {
    checkServerIdentity: (_host, { subjectaltname }) =>
      subjectaltname === 'DNS:shop.example' ? undefined : new Error(subjectaltname),
  });
  client.socket.destroy();
  expect((await gateway.get('shop.example')).status).toBe(200);
  writeFileSync(join(folder, 'certificates', 'shop.key'), 'swapped half-way');
  await gateway.svc.logged(/"name":"shop".*A certificate cannot be used: The private key/);
  expect((await gateway.get('shop.example')).status).toBe(200);
});

test('TLS before 1.2 is refused', async () => {
  await expect(
    gateway.connect(CART, {
      maxVersion: 'TLSv1.1',
      minVersion: 'TLSv1',
      ciphers: 'ALL:@SECLEVEL=0',
    }),
  ).rejects.toThrow(/alert|protocol/i);
});

test('the plain port redirects to the same URL with TLS, for hosts that the gateway serves', async () => {
  const lines = await askPlain(
    `POST /carts/1?a=b HTTP/1.1\r\nHost: ${CART}:8080\r\nContent-Length: 0\r\n\r\n`,
  );
  expect(lines[0]).toBe('HTTP/1.1 308 Permanent Redirect');
  expect(lines).toContain(`Location: https://${CART}/carts/1?a=b`);
  const [foreign] = await askPlain('GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n');
  expect(foreign).toBe('HTTP/1.1 421 Misdirected Request');
});

test("the platform's hostnames lead to the platform, also if a service claims one", async () => {
  await publishCart({ hostnames: [`api.${DOMAIN}`] });
  const { status, body } = await gateway.get(`api.${DOMAIN}`, ['X-Svc-Caller: local']);
  expect(status).toBe(200);
  expect(body).toContain('"X-Forwarded-For","127.0.0.1"');
  expect(body).not.toContain('X-Svc-Caller');
  expect(errorOf(await gateway.get(`login.${DOMAIN}`))).toBe(
    '503 This part of the platform cannot be reached.',
  );
  expect(errorOf(await gateway.get(`registry.${DOMAIN}`))).toMatch(/^404 /);
});

test('the paths of the webhook service at the hostname of the API, as they are spelled, go to it', async () => {
  await publishCart();
  const paths = ['/api/platform/v1/tenants/acme', '/api/platform/v10', '/api//platform/v1/x', '/a'];
  const bodies = await Promise.all(
    paths.map(async (path) => (await gateway.get(`api.${DOMAIN}`, [], path)).body),
  );
  expect(bodies.map((body) => body === 'webhooks')).toEqual([true, false, false, false]);
  expect((await gateway.get(CART, [], paths[0])).body).not.toBe('webhooks');
});

test('requests of a service that is held wait, and go to its next instance', async () => {
  await publishCart();
  const inFlight = Promise.withResolvers<ServerResponse>();
  answerCart = (_request, response) => inFlight.resolve(response);
  const first = gateway.get(CART);
  const response = await inFlight.promise;
  const hold = routes.hold('shop/cart');
  const settled = vi.fn<() => void>();
  const whenSettled = hold.settled.then(settled);
  const waiting = gateway.get(CART);
  expect(settled).not.toHaveBeenCalled();
  response.end('last');
  expect((await first).body).toBe('last');
  await whenSettled;
  const next = await startInstance(installation, 'cart', (_request, answered) =>
    answered.end('next'),
  );
  ends.push(() => void next.server.close());
  const { server: _server, ...instance } = next;
  await publishCart({ instances: [instance] });
  hold.release();
  expect((await waiting).body).toBe('next');
});
