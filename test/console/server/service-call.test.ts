// Requests that the user has filled in on the page: each is sent once to a declared route of the service, or not at
// all.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { ConsoleUnderTest } from '../support/console-under-test.ts';
import { answerJson, StandInService } from '../support/stand-in-service.ts';

/** Replaces the pauses of the console. */
const pauses = vi.hoisted((): { instead?: (() => Promise<void>) | undefined } => ({}));
vi.mock(import('node:timers/promises'), async (original) => {
  const real = await original();
  const setTimeout = (...args: Parameters<typeof real.setTimeout>) =>
    pauses.instead?.() ?? real.setTimeout(...args);
  return { ...real, setTimeout: setTimeout as typeof real.setTimeout };
});
afterEach(() => {
  pauses.instead = undefined;
});

/** Returns the requests that the service's own server has received. */
function received({ heard }: StandInService) {
  return heard.filter(({ url }) => !url.startsWith('/observability/'));
}

test('a request goes to its route, and its answer comes back with its time and trace', async () => {
  const served = await ConsoleUnderTest.start();
  const service = await StandInService.start({
    folder: served.folder,
    http: (_heard, response) => {
      response.setHeader('x-two', ['a', 'b']);
      answerJson(response, 409, { status: 409, error: 'Sold out: ä' });
    },
  });
  const got = await served.call(service.instanceId, {
    method: 'POST',
    path: '/carts/a%2Fb/items?x=1&y',
    headers: [
      ['Idempotency-Key', 'k1'],
      ['content-type', 'application/json'],
    ],
    body: '{"sku":"ä"}',
  });
  expect(got.status).toBe(200);
  const answer = got.json as { headers: [string, string][]; durationMs: number; traceId: string };
  expect(answer).toMatchObject({
    status: 409,
    body: '{"status":409,"error":"Sold out: ä"}',
    bodyIsBase64: false,
  });
  expect(answer.headers).toContainEqual(['x-two', 'a']);
  expect(answer.headers).toContainEqual(['x-two', 'b']);
  expect(answer.durationMs).toBeGreaterThan(0);
  expect(received(service)).toHaveLength(1);
  const [{ method, url, headers, body }] = received(service) as [ReturnType<typeof received>[0]];
  expect({ method, url, body }).toEqual({
    method: 'POST',
    url: '/carts/a%2Fb/items?x=1&y',
    body: '{"sku":"ä"}',
  });
  expect(headers).toMatchObject({
    'idempotency-key': 'k1',
    'content-type': 'application/json',
    host: new URL(service.httpAddress).host,
    traceparent: expect.stringMatching(
      new RegExp(`^00-${answer.traceId}-${answer.traceId.slice(0, 16)}-01$`),
    ) as string,
  });
});

test('bytes go and come as base64', async () => {
  const served = await ConsoleUnderTest.start();
  const bytes = Buffer.from([0, 255, 10, 200]);
  const service = await StandInService.start({
    folder: served.folder,
    http: (_heard, response) => response.end(bytes),
  });
  const got = await served.call(service.instanceId, {
    method: 'POST',
    path: '/carts/1/items',
    body: Buffer.from('äx').toString('base64'),
    bodyIsBase64: true,
  });
  expect(got.json).toMatchObject({ body: bytes.toString('base64'), bodyIsBase64: true });
  expect(received(service)[0]!.body).toBe('äx');
});

test('a request without a body says so', async () => {
  const served = await ConsoleUnderTest.start();
  const service = await StandInService.start({ folder: served.folder });
  await served.call(service.instanceId, { method: 'POST', path: '/carts/1/items' });
  await served.call(service.instanceId, { path: '/' });
  const [post, get] = received(service);
  expect(post!.headers).toMatchObject({ 'content-length': '0' });
  expect(post!.headers['transfer-encoding']).toBeUndefined();
  expect(get!.headers['content-length']).toBeUndefined();
});

test('HEAD asks the route of GET', async () => {
  const served = await ConsoleUnderTest.start();
  const service = await StandInService.start({ folder: served.folder });
  const got = await served.call(service.instanceId, { method: 'HEAD', path: '/carts/1' });
  expect(got.json).toMatchObject({ status: 200, body: '' });
  expect(received(service)).toMatchObject([{ method: 'HEAD' }]);
});

test('a redirect of a service is shown, and not followed', async () => {
  const served = await ConsoleUnderTest.start();
  const service = await StandInService.start({
    folder: served.folder,
    http: (_heard, response) => response.writeHead(302, { location: '/carts/2' }).end(),
  });
  const got = await served.call(service.instanceId, { path: '/carts/1' });
  expect(got.json).toMatchObject({ status: 302 });
  expect(received(service)).toHaveLength(1);
});

test.each([
  ['POST', '/observability/query/cart/a/add'],
  ['POST', '/carts/1'],
  ['DELETE', '/carts/1'],
  ['OPTIONS', '/carts/1'],
  ['GET', '/carts'],
  ['GET', '/carts/'],
  ['GET', '/carts/..'],
  ['GET', '/carts/%2e%2e'],
  ['GET', '/carts/1/2'],
  ['GET', '/Carts/1'],
  ['GET', '/%zz'],
  ['GET', '/carts%2F1'],
])('it refuses to run a command: no route is declared for %s %s', async (method, path) => {
  const served = await ConsoleUnderTest.start();
  const service = await StandInService.start({ folder: served.folder });
  const got = await served.call(service.instanceId, { method, path });
  expect(got).toMatchObject({ status: 404, json: { status: 404 } });
  expect(received(service)).toEqual([]);
});

test.each<[string, Record<string, unknown>]>([
  ['a path of another machine', { path: 'http://example.com/' }],
  ['no path', { path: undefined }],
  ['a path with a space', { path: '/carts/ 1' }],
  ['a path with a line', { path: '/carts/1\r\nx: y' }],
  ['a path with a fragment', { path: '/#x' }],
  ['a method that is none', { method: 'GET /x' }],
  ['a header with a line', { headers: [['x', 'a\r\nb: c']] }],
  ['a header without a name', { headers: [['', 'a']] }],
  ['a header that is no pair', { headers: ['x: y'] }],
  ['a header beyond Latin-1', { headers: [['x', '→']] }],
  ['a Host', { headers: [['Host', 'example.com']] }],
  ['a Content-Length', { headers: [['content-length', '1']] }],
  ['a Transfer-Encoding', { headers: [['Transfer-Encoding', 'chunked']] }],
  [
    'a trace',
    { headers: [['traceparent', '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01']] },
  ],
  ['too many headers', { headers: Array.from({ length: 101 }, () => ['x', 'y']) }],
  ['a body that is an object', { body: {} }],
  ['a body of no kind', { bodyIsBase64: 'no' }],
])('a request that cannot be is refused: %s', async (_what, call) => {
  const served = await ConsoleUnderTest.start();
  const service = await StandInService.start({ folder: served.folder });
  const got = await served.call(service.instanceId, { path: '/', ...call });
  expect(got).toMatchObject({ status: 400, json: { status: 400 } });
  expect(received(service)).toEqual([]);
});

test.each<[string, Record<string, string>]>([
  ['without the header of the page', { 'x-svc-console': '' }],
  ['as a form', { 'content-type': 'text/plain' }],
  ['as another type', { 'content-type': 'application/jsonp' }],
])('a request that another page could send is refused: %s', async (_what, headers) => {
  const served = await ConsoleUnderTest.start();
  const service = await StandInService.start({ folder: served.folder });
  const got = await served.call(service.instanceId, { path: '/' }, headers);
  expect(got.status).toBe(403);
  expect(received(service)).toEqual([]);
});

test('a request that is not JSON, or no object, is refused', async () => {
  const served = await ConsoleUnderTest.start();
  const service = await StandInService.start({ folder: served.folder });
  const headers = { 'content-type': 'application/json', 'x-svc-console': '1' };
  for (const body of ['{', '7', 'null'])
    expect(
      await served.ask(`/api/services/${service.instanceId}/call`, {
        method: 'POST',
        headers,
        body,
      }),
    ).toMatchObject({ status: 400 });
});

test('a request that is too large is refused', async () => {
  const served = await ConsoleUnderTest.start();
  const service = await StandInService.start({ folder: served.folder });
  const body = 'x'.repeat(13 * 1024 * 1024);
  const got = await served.call(service.instanceId, { path: '/', body });
  expect(got.status).toBe(413);
  expect(received(service)).toEqual([]);
});

test('a call is sent by POST alone', async () => {
  const served = await ConsoleUnderTest.start();
  const service = await StandInService.start({ folder: served.folder });
  expect(await served.ask(`/api/services/${service.instanceId}/call`)).toMatchObject({
    status: 405,
    headers: { allow: 'POST' },
  });
});

test('nothing is sent to an address that is not loopback', async () => {
  const served = await ConsoleUnderTest.start();
  const described = { instances: [{ address: 'http://192.0.2.1:9000', shards: 1 }] };
  const service = await StandInService.start({ folder: served.folder, described });
  const got = await served.call(service.instanceId, { path: '/' });
  expect(got.status).toBe(502);
  expect(got.text).toContain('192.0.2.1');
});

test('nothing is sent to a service without an HTTP server', async () => {
  const served = await ConsoleUnderTest.start();
  const described = { instances: [{ address: null, shards: 1 }] };
  const service = await StandInService.start({ folder: served.folder, described });
  expect((await served.call(service.instanceId, { path: '/' })).status).toBe(502);
});

test('nothing is sent once the port of the service is that of another', async () => {
  const served = await ConsoleUnderTest.start();
  const service = await StandInService.start({ folder: served.folder });
  await served.ask('/api/services');
  service.kill();
  const sent: string[] = [];
  const other = createServer((request, response) => {
    sent.push(request.method!);
    answerJson(response, 200, { ...service.description(), instanceId: 'another' });
  });
  onTestFinished(() => void other.close());
  const { promise, resolve } = Promise.withResolvers<void>();
  other.listen(Number(new URL(service.observabilityAddress).port), '127.0.0.1', resolve);
  await promise;
  const got = await served.call(service.instanceId, { method: 'POST', path: '/carts/1/items' });
  expect(got.status).toBe(502);
  expect(sent).toEqual(['GET']);
});

test('a service that does not listen for a moment is asked once more', async () => {
  const served = await ConsoleUnderTest.start();
  const gone = createServer((_request, response) => answerJson(response, 200, {}));
  const listen = async (port: number) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    gone.listen(port, '127.0.0.1', resolve);
    await promise;
    return (gone.address() as AddressInfo).port;
  };
  const port = await listen(0);
  gone.close();
  onTestFinished(() => void gone.close());
  const described = { instances: [{ address: `http://127.0.0.1:${port}`, shards: 1 }] };
  const service = await StandInService.start({ folder: served.folder, described });
  await served.ask('/api/services');
  pauses.instead = async () => {};
  const refused = await served.call(service.instanceId, { path: '/' });
  expect(refused.status).toBe(502);
  expect(refused.text).toContain('Nothing was sent');
  pauses.instead = async () => void (await listen(port));
  const got = await served.call(service.instanceId, { path: '/' });
  expect(got.json).toMatchObject({ status: 200 });
});

test('a connection that breaks says that nobody knows whether the request was done', async () => {
  const served = await ConsoleUnderTest.start();
  const service = await StandInService.start({
    folder: served.folder,
    http: (_heard, response) => response.destroy(),
  });
  const got = await served.call(service.instanceId, { path: '/' });
  expect(got.status).toBe(502);
  expect(got.text).toContain('not known');
  expect(received(service)).toHaveLength(1);
});

test('a request is cancelled when its page does not wait any more', async () => {
  const served = await ConsoleUnderTest.start();
  const begun = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  const service = await StandInService.start({
    folder: served.folder,
    http: (_heard, response) => {
      response.once('close', () => closed.resolve());
      begun.resolve();
    },
  });
  const page = new AbortController();
  const asked = fetch(`${served.url}/api/services/${service.instanceId}/call`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-svc-console': '1' },
    body: JSON.stringify({
      method: 'GET',
      path: '/',
      headers: [],
      body: null,
      bodyIsBase64: false,
    }),
    signal: page.signal,
  });
  await begun.promise;
  page.abort();
  await expect(asked).rejects.toThrow('aborted');
  await closed.promise;
  expect(served.bugs).toEqual([]);
});
