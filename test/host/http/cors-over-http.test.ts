// CORS over real sockets: preflights, answers of handlers, and errors that the server writes itself.
import { describe, expect, test } from 'vitest';
import { INTERNET, LOCAL } from '../../../host/http/access.ts';
import type { EndpointHandler } from '../../../host/http/exchange-parts.ts';
import { NO_OBSERVER } from '../../../host/http/http-observer.ts';
import { GuestFault } from '../../../model/guest-fault.ts';
import {
  ask,
  descriptorOf,
  gate,
  get,
  JSON_BODY,
  ok,
  type RawAnswer,
  RawClient,
  start,
  type StartOptions,
} from './http-harness.ts';

const SHOP = 'https://shop.example.com';
const OTHER = 'https://other.example.com';
const ORIGINS = { origins: [SHOP] };
const descriptor = descriptorOf([
  ['GET', '/notes/{id}', { cors: {} }],
  ['PUT', '/notes/{id}', { ...JSON_BODY, cors: {} }],
  ['DELETE', '/notes/{id}', { access: { allow: 'local' } }],
  ['GET', '/plain'],
  ['GET', '/admin', { access: { allow: 'local' } }],
]);
const VARY = 'Origin';
const READABLE = { 'access-control-allow-origin': SHOP, vary: VARY };

function serve(options: Partial<StartOptions> = {}) {
  return start({ descriptor, cors: ORIGINS, caller: INTERNET, ...options });
}

function request(method: string, path: string, origin: string, headers = '', body = ''): string {
  return `${method} ${path} HTTP/1.1\r\nhost: test\r\norigin: ${origin}\r\n${headers}\r\n${body}`;
}

function preflight(path: string, method: string, origin = SHOP): string {
  return request('OPTIONS', path, origin, `access-control-request-method: ${method}\r\n`);
}

function corsNames({ headers }: RawAnswer): string[] {
  return Object.keys(headers).filter((name) => /^access-control-|^vary$/.test(name));
}

/** A module that declares CORS for every origin. */
const openHandler: EndpointHandler = () =>
  ok('text', [
    ['Access-Control-Allow-Origin', '*'],
    ['access-control-allow-credentials', 'true'],
    ['vary', 'accept-language'],
    ['x-kept', '1'],
  ]);
/** A handler of a module that traps. */
const faultyHandler = () => {
  throw new GuestFault('trap', 'boom');
};

describe('a preflight', () => {
  test('is answered without a handler, and keeps Allow', async () => {
    const { port } = await serve({ handle: () => Promise.reject(new Error('it ran')) });
    const answer = await ask(port, preflight('/notes/1', 'PUT'));
    expect(answer.status).toBe(204);
    expect(answer.headers).toMatchObject({
      allow: 'GET, HEAD, PUT, DELETE, OPTIONS',
      'access-control-allow-origin': SHOP,
      'access-control-allow-methods': 'PUT',
      'access-control-allow-headers': 'content-type, idempotency-key',
      'access-control-max-age': '600',
    });
  });

  test.each([
    ['/notes/1', 'DELETE'],
    ['/admin', 'GET'],
    ['/plain', 'GET'],
    ['/notes/1', 'PATCH'],
  ])(
    'of %s, %s is answered as any OPTIONS, also for a caller of the own machine',
    async (path, method) => {
      for (const caller of [INTERNET, LOCAL]) {
        const { port } = await serve({ caller });
        const { port: without } = await serve({ caller, cors: {} });
        const text = preflight(path, method);
        expect(await answerBytes(port, text)).toBe(await answerBytes(without, text));
        expect(corsNames(await ask(port, text))).toEqual([]);
      }
    },
  );

  test('of another origin learns nothing about the route', async () => {
    const { port } = await serve();
    expect(corsNames(await ask(port, preflight('/notes/1', 'PUT', OTHER)))).toEqual(['vary']);
  });

  test('of a path that is not there is 404', async () => {
    const { port } = await serve();
    const answer = await ask(port, preflight('/nothing', 'GET'));
    expect([answer.status, corsNames(answer)]).toEqual([404, []]);
  });

  test('with a name list of any length costs nothing, since it is not read', async () => {
    const { port } = await serve();
    const names = `access-control-request-headers: ${'x,'.repeat(7_000)}\r\n`;
    const asked = `access-control-request-method: PUT\r\n${names}`;
    const answer = await ask(port, request('OPTIONS', '/notes/1', SHOP, asked));
    expect(answer.headers['access-control-allow-headers']).toBe('content-type, idempotency-key');
  });
});

describe('an answer', () => {
  test('of a handler is readable for the allowed origin, whatever the module says', async () => {
    const { port } = await serve({ handle: openHandler });
    const answer = await ask(port, request('GET', '/notes/1', SHOP));
    expect(answer.headers).toMatchObject({
      'access-control-allow-origin': SHOP,
      'access-control-expose-headers': 'retry-after',
      vary: `accept-language, ${VARY}`,
      'x-kept': '1',
    });
    expect(answer.headers).not.toHaveProperty('access-control-allow-credentials');
    const head = await ask(port, request('HEAD', '/notes/1', SHOP), false);
    expect(head.headers).toMatchObject({ 'access-control-allow-origin': SHOP });
  });

  test.each([
    request('GET', '/notes/1', OTHER),
    request('GET', '/notes/1', 'null'),
    get('/notes/1'),
  ])('to anybody else says only that it varies: %j', async (text) => {
    const { port } = await serve({ handle: openHandler });
    const answer = await ask(port, text);
    expect([answer.status, corsNames(answer)]).toEqual([200, ['vary']]);
    expect(answer.headers['vary']).toBe(`accept-language, ${VARY}`);
  });

  test.each(['/plain', '/admin'])(
    'of %s, which declares nothing, is as without CORS',
    async (path) => {
      const { port } = await serve({ handle: openHandler });
      const { port: without } = await serve({ handle: openHandler, cors: {} });
      const text = request('GET', path, SHOP);
      expect(await answerBytes(port, text)).toBe(await answerBytes(without, text));
    },
  );

  test('without origins of the operator is as if the module declared nothing', async () => {
    const { port } = await serve({ handle: openHandler, cors: {} });
    const plain = descriptorOf([['GET', '/notes/{id}']]);
    const { port: without } = await serve({ handle: openHandler, descriptor: plain, cors: {} });
    const text = request('GET', '/notes/1', SHOP);
    expect(await answerBytes(port, text)).toBe(await answerBytes(without, text));
  });
});

describe('an error of the server is readable', () => {
  const json = 'content-type: application/json\r\n';

  test.each([
    ['400, of a key', request('PUT', '/notes/1', SHOP, 'idempotency-key: \xe9\r\n'), 400],
    [
      '400, of a missing body',
      request('PUT', '/notes/1', SHOP, `${json}content-length: 0\r\n`),
      400,
    ],
    ['413', request('PUT', '/notes/1', SHOP, `${json}content-length: 2000000\r\n`), 413],
    ['415', request('PUT', '/notes/1', SHOP, 'content-length: 1\r\n', 'x'), 415],
  ])('%s', async (_what, text, status) => {
    const { port } = await serve();
    const answer = await ask(port, text);
    expect(answer.status).toBe(status);
    expect(answer.headers).toMatchObject(READABLE);
  });

  test('500, of a fault', async () => {
    const { port } = await serve({ handle: faultyHandler });
    const answer = await ask(port, request('GET', '/notes/1', SHOP));
    expect(answer.status).toBe(500);
    expect(answer.headers).toMatchObject(READABLE);
  });

  test('503, with too many in flight, which does not look at the route otherwise', async () => {
    const { passed, open } = gate();
    const handle = async () => passed.then(() => ok());
    const { port, server } = await serve({ handle, settings: { requestsInFlightMax: 1 } });
    const first = ask(port, request('GET', '/notes/1', SHOP));
    await expect.poll(() => server.inFlight).toBe(1);
    const answer = await ask(port, request('GET', '/notes/1', SHOP));
    const plain = await ask(port, request('GET', '/plain', SHOP));
    open();
    expect(answer.status).toBe(503);
    expect(answer.headers).toMatchObject({
      ...READABLE,
      'access-control-expose-headers': 'retry-after',
      'retry-after': '1',
    });
    expect([plain.status, corsNames(plain)]).toEqual([503, []]);
    expect((await first).status).toBe(200);
  });

  test('503, while it stops', async () => {
    const { passed, open } = gate();
    let answered = 0;
    const { port, server } = await serve({
      handle: async () => passed.then(() => ok()),
      observer: { ...NO_OBSERVER, counts: { answered: () => (answered += 1) } },
    });
    const client = new RawClient(port).send(request('GET', '/notes/1', SHOP));
    await expect.poll(() => server.inFlight).toBe(1);
    const stopped = server.stop();
    client.send(request('GET', '/notes/2', SHOP));
    // Its answer waits for the first one.
    await expect.poll(() => answered).toBe(1);
    open();
    expect((await client.answer()).status).toBe(200);
    const answer = await client.answer();
    expect(answer.status).toBe(503);
    expect(answer.headers).toMatchObject(READABLE);
    await stopped;
  });

  test('504, of a handler that is too late', async () => {
    const { port } = await serve({
      handle: () => new Promise(() => {}),
      settings: { answerTimeoutMs: 1 },
    });
    const answer = await ask(port, request('GET', '/notes/1', SHOP));
    expect(answer.status).toBe(504);
    expect(answer.headers).toMatchObject(READABLE);
  });

  test.each([
    ['404, of no path', '/nothing', 404],
    ['403, of a rule', '/admin', 403],
    ['400, of an address', '/%ff', 400],
  ])('but not %s', async (_what, path, status) => {
    const { port } = await serve();
    const answer = await ask(port, request('GET', path, SHOP));
    expect([answer.status, corsNames(answer)]).toEqual([status, []]);
  });

  test('but not 405', async () => {
    const { port } = await serve();
    const answer = await ask(port, request('POST', '/notes/1', SHOP, 'content-length: 0\r\n'));
    expect([answer.status, corsNames(answer)]).toEqual([405, []]);
  });
});

/** Returns the response without its date. */
async function answerBytes(port: number, text: string): Promise<string> {
  const closing = text.replace('\r\n', '\r\nconnection: close\r\n');
  const rest = await new RawClient(port).send(closing).rest();
  return rest.replace(/\r\nDate: [^\r]*/i, '');
}
