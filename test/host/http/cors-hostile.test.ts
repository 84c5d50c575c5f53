// CORS with a hostile or clumsy caller on a raw socket: old versions of HTTP, preflights with bodies, pipelining,
// expectations, and origins similar to the allowed one.
import { describe, expect, test } from 'vitest';
import { INTERNET } from '../../../host/http/access.ts';
import type { EndpointHandler } from '../../../host/http/exchange-parts.ts';
import { requestBudgets } from '../../../model/request-budgets.ts';
import { HTTP_SETTINGS_DEFAULT } from '../../../host/http/http-settings.ts';
import {
  ask,
  descriptorOf,
  gate,
  JSON_BODY,
  ok,
  type RawAnswer,
  RawClient,
  start,
  type StartOptions,
} from './http-harness.ts';

const SHOP = 'https://shop.example.com';
const descriptor = descriptorOf([
  ['GET', '/notes/{id}', { cors: {} }],
  ['PUT', '/notes/{id}', { ...JSON_BODY, cors: {} }],
  ['GET', '/narrow', { cors: { origins: [SHOP] } }],
  ['GET', '/admin', { access: { allow: 'local' }, cors: {} }],
]);
const JSON_TYPE = 'content-type: application/json\r\n';
const BUDGET_BYTES = 4 * 1024 * 1024;
const RETRY = { 'retry-after': '1', 'access-control-expose-headers': 'retry-after' };
const ALLOWED = { 'access-control-allow-origin': SHOP };

function serve(origins: readonly string[] = [SHOP], options: Partial<StartOptions> = {}) {
  return start({ descriptor, cors: { origins }, caller: INTERNET, ...options });
}

interface Sent {
  readonly path?: string;
  readonly origin?: string | readonly string[];
  readonly headers?: string;
  readonly body?: string;
  readonly version?: string;
}

function request(method: string, sent: Sent = {}): string {
  const { path = '/notes/1', origin = SHOP, headers = '', body = '', version = '1.1' } = sent;
  const origins = [origin].flat().map((value) => `origin: ${value}\r\n`);
  return `${method} ${path} HTTP/${version}\r\nhost: test\r\n${origins.join('')}${headers}\r\n${body}`;
}

function preflight(sent: Sent = {}, method = 'PUT'): string {
  const asked = `access-control-request-method: ${method}\r\n`;
  return request('OPTIONS', { ...sent, headers: asked + (sent.headers ?? '') });
}

/** A PUT whose caller waits for `100 Continue`. */
function expecting(length: number): string {
  const headers = `${JSON_TYPE}expect: 100-continue\r\ncontent-length: ${length}\r\n`;
  return request('PUT', { headers });
}

function corsFields({ headers }: RawAnswer): string[] {
  return Object.keys(headers).filter((name) => name.startsWith('access-control-'));
}

describe('an origin', () => {
  test.each([
    ['in upper case', 'HTTPS://SHOP.EXAMPLE.COM'],
    ['with a host in upper case', 'https://Shop.example.com'],
    ['with a dot at the end', 'https://shop.example.com.'],
    ['with a slash at the end', 'https://shop.example.com/'],
    ['with the port of its scheme', 'https://shop.example.com:443'],
    ['with another port', 'https://shop.example.com:8443'],
    ['of another scheme', 'http://shop.example.com'],
    ['with a user', 'https://shop.example.com@evil.example'],
    ['that the allowed one begins', 'https://shop.example.com.evil.example'],
    ['that the allowed one ends', 'https://evilshop.example.com'],
    ['null', 'null'],
    ['that is empty', ''],
    ['twice in one header', `${SHOP}, ${SHOP}`],
    ['twice, as serialised by the first draft', `${SHOP} ${SHOP}`],
    ['in two headers', [SHOP, SHOP]],
    ['in two headers of which one is allowed', ['https://evil.example', SHOP]],
    ['with a tab inside', 'https://shop\t.example.com'],
    ['with bytes beyond ASCII', 'https://sh\xf6p.example.com'],
  ])('%s is another than the allowed one', async (_what, origin) => {
    const { port } = await serve();
    for (const text of [request('GET', { origin }), preflight({ origin })]) {
      const answer = await ask(port, text);
      expect([answer.status, corsFields(answer)]).toEqual([text.startsWith('GET') ? 200 : 204, []]);
      expect(answer.headers['vary']).toMatch(/^Origin/);
    }
  });

  test.each([
    'https://example.com',
    'https://.example.com',
    'https://a.b.example.com',
    'https://a.example.com.evil.example',
    'https://evil.example/.example.com',
    'https://evil.example#.example.com',
    'https://evil.example?.example.com',
    'https://evil@a.example.com',
    'https://evil:1.example.com',
    'https://a.example.com:8443',
    'http://a.example.com',
    'https://a, https://b.example.com',
    'https://\xe4.example.com',
    `https://${'a'.repeat(64)}.example.com`,
    'null',
  ])('is not covered by a wildcard for one label: %s', async (origin) => {
    const { port } = await serve(['https://*.example.com']);
    expect(corsFields(await ask(port, request('GET', { origin })))).toEqual([]);
    expect(corsFields(await ask(port, preflight({ origin })))).toEqual([]);
  });

  test('of any kind is allowed by a star, and is not repeated', async () => {
    const { port } = await serve(['*']);
    for (const origin of ['null', 'https://evil.example', ['a', 'b']]) {
      const answer = await ask(port, request('GET', { origin }));
      expect(answer.headers).toMatchObject({ 'access-control-allow-origin': '*' });
      expect(answer.headers).not.toHaveProperty('vary');
      expect(answer.headers).not.toHaveProperty('access-control-allow-credentials');
    }
  });

  test('is repeated where the operator allows every one and the route names it', async () => {
    const { port } = await serve(['*']);
    const named = await ask(port, request('GET', { path: '/narrow' }));
    expect(named.headers).toMatchObject({ ...ALLOWED, vary: 'Origin' });
    const other = await ask(port, request('GET', { path: '/narrow', origin: 'null' }));
    expect([corsFields(other), other.headers['vary']]).toEqual([[], 'Origin']);
  });
});

describe('a preflight', () => {
  test.each([
    ['lower case', 'put'],
    ['a list', 'PUT, GET'],
    ['OPTIONS', 'OPTIONS'],
    ['no token', 'PU T'],
    ['empty', ''],
  ])(
    'that asks for a method which is none of the path is told nothing: %s',
    async (_what, method) => {
      const { port } = await serve();
      const answer = await ask(port, preflight({}, method));
      expect([answer.status, corsFields(answer), answer.headers['vary']]).toEqual([
        204,
        [],
        undefined,
      ]);
    },
  );

  test('for HEAD is answered as for GET', async () => {
    const { port } = await serve();
    const { headers } = await ask(port, preflight({}, 'HEAD'));
    expect(headers).toMatchObject({ ...ALLOWED, 'access-control-allow-methods': 'GET, HEAD' });
  });

  test('of a local route learns nothing, although its descriptor declares CORS', async () => {
    const { port } = await serve();
    for (const text of [preflight({ path: '/admin' }, 'GET'), request('GET', { path: '/admin' })]) {
      const { headers } = await ask(port, text);
      expect(Object.keys(headers).filter((name) => /^access-control|^vary/.test(name))).toEqual([]);
    }
  });

  test('of the server as a whole learns nothing', async () => {
    const { port } = await serve();
    const answer = await ask(port, preflight({ path: '*' }));
    expect([answer.status, corsFields(answer)]).toEqual([204, []]);
  });

  test('as a proxy sends it is answered for its path', async () => {
    const { port } = await serve();
    const answer = await ask(port, preflight({ path: 'http://elsewhere.example/notes/1' }));
    expect([answer.status, answer.headers]).toMatchObject([204, ALLOWED]);
  });

  test('and 20 requests in one piece are answered in order', async () => {
    const { port } = await serve();
    const client = new RawClient(port).send((preflight() + request('GET')).repeat(20));
    for (let n = 0; n < 20; n++)
      for (const status of [204, 200]) {
        const answer = await client.answer();
        expect([answer.status, answer.headers]).toMatchObject([status, ALLOWED]);
      }
  });

  test.each([
    ['with a length', 'content-length: 60\r\n', request('GET').slice(0, 60)],
    ['in chunks', 'transfer-encoding: chunked\r\n', '5\r\nGET /\r\n0\r\n\r\n'],
  ])('may have a body, which is never taken for a request: %s', async (_what, headers, body) => {
    const { port, server } = await serve();
    const client = new RawClient(port).send(preflight({ headers, body }) + request('GET'));
    const answer = await client.answer();
    expect([answer.status, answer.headers]).toMatchObject([204, ALLOWED]);
    expect((await client.answer()).status).toBe(200);
    await expect.poll(() => server.inFlight).toBe(0);
  });

  test('that announces more than a body may have is the last of its connection', async () => {
    const { port } = await serve();
    const client = new RawClient(port).send(preflight({ headers: 'content-length: 9999999\r\n' }));
    const answer = await client.answer();
    expect([answer.status, answer.headers]).toMatchObject([
      204,
      { ...ALLOWED, connection: 'close' },
    ]);
    client.send(request('GET'));
    client.socket.end();
    expect(await client.rest()).toBe('');
  });

  test('that waits to be asked for its body is answered instead', async () => {
    const { port } = await serve();
    const headers = 'expect: 100-continue\r\ncontent-length: 5\r\n';
    const answer = await ask(port, preflight({ headers }));
    expect([answer.status, answer.headers]).toMatchObject([
      204,
      { ...ALLOWED, connection: 'close' },
    ]);
  });

  test('with 100 KiB of names is refused by the limit of headers, or not read where that allows them', async () => {
    const headers = `access-control-request-headers: ${'x-a,'.repeat(25_600)}\r\n`;
    const { port } = await serve();
    const refused = await ask(port, preflight({ headers }));
    expect([refused.status, corsFields(refused)]).toEqual([431, []]);
    const { port: wide } = await serve([SHOP], { settings: { headerBytesMax: 128 * 1024 } });
    const answer = await ask(wide, preflight({ headers }));
    expect([answer.status, answer.headers]).toMatchObject([
      204,
      { 'access-control-allow-headers': 'content-type, idempotency-key' },
    ]);
  });
});

describe('an answer', () => {
  test.each([
    ['of HTTP/1.0', '1.0', ''],
    ['of HTTP/1.0 that stays open', '1.0', 'connection: keep-alive\r\n'],
  ])('%s has the headers, too', async (_what, version, headers) => {
    const { port } = await serve();
    for (const text of [request('GET', { version, headers }), preflight({ version, headers })])
      expect((await ask(port, text)).headers).toMatchObject(ALLOWED);
    const bare = `GET /notes/1 HTTP/1.0\r\norigin: ${SHOP}\r\n\r\n`;
    expect((await ask(port, bare)).headers).toMatchObject(ALLOWED);
  });

  test('to a caller that has closed its side arrives whole', async () => {
    const { port } = await serve();
    for (const text of [preflight(), request('GET')]) {
      const client = new RawClient(port, { allowHalfOpen: true }).send(text);
      client.socket.end();
      expect((await client.answer()).headers).toMatchObject(ALLOWED);
    }
  });

  test('to a caller that waits to be asked for its body is readable, refusal or not', async () => {
    const { port } = await serve();
    const refused = await ask(port, expecting(9_999_999));
    expect([refused.status, refused.headers]).toMatchObject([413, ALLOWED]);
    const client = new RawClient(port).send(expecting(2));
    expect((await client.answer(false)).status).toBe(100);
    client.send('{}');
    const answer = await client.answer();
    expect([answer.status, answer.headers]).toMatchObject([200, ALLOWED]);
  });

  test.each([201, 204, 205, 302, 304, 404, 418, 503])(
    'of a handler with the status %i has them, and one Vary for each origin',
    async (status) => {
      const handle: EndpointHandler = () =>
        ok(
          '',
          [
            ['etag', '"1"'],
            ['location', '/x'],
            ['vary', '*'],
          ],
          status,
        );
      const { port } = await serve([SHOP], { handle });
      const answer = await ask(port, request('GET', { headers: 'if-none-match: "1"\r\n' }));
      expect([answer.status, answer.headers]).toMatchObject([
        status,
        { ...ALLOWED, vary: '*, Origin' },
      ]);
      const other = await ask(port, request('GET', { origin: 'https://evil.example' }));
      expect([corsFields(other), other.headers['vary']]).toEqual([[], '*, Origin']);
    },
  );

  test('that there is no room for is readable, and so is the one in the place of a dropped response', async () => {
    const budgets = requestBudgets({
      ...HTTP_SETTINGS_DEFAULT,
      unsentBytesMax: BUDGET_BYTES,
      responseBytesMax: 65_536,
    });
    const { port } = await serve([SHOP], {
      budgets,
      handle: () => {
        budgets.unsent.add(BUDGET_BYTES);
        return ok('x'.repeat(60_000));
      },
    });
    const dropped = await ask(port, request('GET'));
    expect([dropped.status, dropped.headers]).toMatchObject([504, ALLOWED]);
    const refused = await ask(port, request('GET'));
    expect([refused.status, refused.headers]).toMatchObject([503, { ...ALLOWED, ...RETRY }]);
    await expectPreflightAndPathsAnswered(port);
  });

  test('with too many in flight is readable, for a page that sends JSON as well', async () => {
    const { passed, open } = gate();
    const { port, server } = await serve([SHOP], {
      handle: async () => passed.then(() => ok()),
      settings: { requestsInFlightMax: 1 },
    });
    const first = ask(port, request('GET'));
    await expect.poll(() => server.inFlight).toBe(1);
    await expectPreflightAndPathsAnswered(port);
    const headers = `${JSON_TYPE}content-length: 2\r\n`;
    const refused = await ask(port, request('PUT', { headers, body: '{}' }));
    expect([refused.status, refused.headers]).toMatchObject([503, { ...ALLOWED, ...RETRY }]);
    open();
    expect((await first).status).toBe(200);
  });
});

/** Requests that need no handler are answered even when the maximum of requests is in flight. */
async function expectPreflightAndPathsAnswered(port: number): Promise<void> {
  const asked = await ask(port, preflight());
  expect([asked.status, asked.headers]).toMatchObject([204, ALLOWED]);
  expect((await ask(port, request('GET', { path: '/nothing' }))).status).toBe(404);
  expect((await ask(port, request('POST', { headers: 'content-length: 0\r\n' }))).status).toBe(405);
}
