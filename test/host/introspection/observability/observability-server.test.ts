// ObservabilityServer over real sockets, with a stand-in for the service: which clients it answers, which parameters
// it accepts, and its bounds.
import { connect } from 'node:net';
import { get, request as send, type IncomingHttpHeaders } from 'node:http';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openObservability } from '../../../../host/introspection/observability/observability-server.ts';
import {
  type ObservedService,
  problem,
  shown,
  type TraceFilter,
} from '../../../../host/introspection/observability/observed-service.ts';
import { schemaProblems } from '../../../support/observed-process.ts';

const TRACES = {
  traces: [],
  window: { capacity: 1, recorded: 0 },
  total: 0,
  newer: 0,
  previous: null,
  next: null,
  silentShards: [],
};

/** Methods that a test does not provide must not be called. */
async function endpoint(made: Partial<ObservedService> = {}) {
  const reported: unknown[] = [];
  const service = new Proxy(made as ObservedService, {
    get: (target, name: keyof ObservedService) =>
      target[name]?.bind(target) ??
      (() => {
        throw new Error(`nobody should ask for ${name}`);
      }),
  });
  const opened = await openObservability(service, (error) => reported.push(error));
  onTestFinished(async () => opened.close());
  const { address } = opened;
  return { address, port: Number(new URL(address).port), reported };
}

async function ask(
  address: string,
  path: string,
  { method = 'GET', headers = {} }: { method?: string; headers?: Record<string, string> } = {},
): Promise<{ status: number | undefined; headers: IncomingHttpHeaders; body: string }> {
  const request = send(`${address}${path}`, { method, headers, agent: false });
  request.end();
  const [response] = await once(request, 'response');
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}

const counting = () => {
  const asked: TraceFilter[] = [];
  return {
    asked,
    traces: async (filter: TraceFilter) => {
      asked.push(filter);
      return TRACES;
    },
  };
};

describe('who is answered', () => {
  test('is a program that asks loopback, with JSON that nobody keeps or takes for something else', async () => {
    const { address } = await endpoint(counting());
    const { status, headers, body } = await ask(address, '/observability/traces');
    expect([status, JSON.parse(body)]).toEqual([200, TRACES]);
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
    });
  });

  test('sees no character that steers a terminal or is invisible, in the same JSON', async () => {
    const reply = '{"name":"a\u009b31m\u202e\u3164\u2800b"}';
    const { address } = await endpoint({ query: async () => ({ status: 200, body: reply }) });
    const { body } = await ask(address, '/observability/query/cart/c1/get');
    expect(body).toBe(String.raw`{"name":"a\u009b31m\u202e\u3164\u2800b"}`);
    expect(JSON.parse(body)).toEqual(JSON.parse(reply));
  });

  test.each([
    ['another Host', { host: 'rebinding.example' }],
    ['another port', { host: '127.0.0.1:1' }],
    ['another Origin', { origin: 'https://rebinding.example' }],
    ['another site', { 'sec-fetch-site': 'cross-site' }],
  ])('is no page with %s: 403, and nothing is asked', async (_what, headers) => {
    const { address } = await endpoint();
    const { status, body } = await ask(address, '/observability/service', { headers });
    expect(status).toBe(403);
    expect(schemaProblems('Problem', JSON.parse(body))).toEqual([]);
  });

  test('is nobody without a Host', async () => {
    const { port } = await endpoint();
    const socket = connect(port, '127.0.0.1');
    socket.write('GET /observability/service HTTP/1.0\r\n\r\n');
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 403 /);
  });

  test('gets no answer with a header that lets another page read it', async () => {
    const { address } = await endpoint(counting());
    for (const [path, options] of [
      ['/observability/traces', {}],
      ['/observability/traces', { headers: { origin: 'https://rebinding.example' } }],
      [
        '/observability/traces',
        { method: 'OPTIONS', headers: { origin: 'https://rebinding.example' } },
      ],
      ['/nowhere', {}],
    ] as const) {
      const { headers } = await ask(address, path, options);
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
  });
});

describe('a method', () => {
  test('other than GET and HEAD is 405, and nothing is asked', async () => {
    const { address } = await endpoint();
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const { status, headers } = await ask(address, '/observability/service', { method });
      expect([status, headers.allow]).toEqual([405, 'GET, HEAD']);
    }
  });

  test('HEAD is answered as GET, without the body', async () => {
    const { address } = await endpoint(counting());
    const answer = await ask(address, '/observability/traces', { method: 'HEAD' });
    expect([answer.status, answer.body]).toEqual([200, '']);
    expect(answer.headers['content-length']).toBe(String(JSON.stringify(TRACES).length));
  });
});

describe('a path', () => {
  test.each([
    ['/'],
    ['/observability'],
    ['/observability/'],
    ['/observability/nothing'],
    ['/observability/service/more'],
    ['/observability/traces/'],
    ['/observability/traces/a/b'],
    ['/observability/query/cart/c1'],
    ['/observability/query/cart/c1/get/more'],
    ['/observability/entities/cart/c1'],
    ['/observability/entities/cart/c1/future'],
    ['/observability/__proto__'],
    ['/Observability/service'],
    ['//observability/service'],
  ])('that is not there is 404: %s', async (path) => {
    const { address } = await endpoint();
    const { status, body } = await ask(address, path);
    expect(status).toBe(path === '/observability/traces/' ? 400 : 404);
    expect(schemaProblems('Problem', JSON.parse(body))).toEqual([]);
  });

  test('is taken apart before it is decoded', async () => {
    const asked: unknown[] = [];
    const { address } = await endpoint({
      query: async (query) => {
        asked.push(query);
        return shown({});
      },
    });
    await ask(address, '/observability/query/cart/a%2Fb%3Fc%20d/get?input=%22x%22');
    expect(asked).toEqual([{ component: 'cart', id: 'a/b?c d', method: 'get', input: '"x"' }]);
  });
});

describe('what may be asked', () => {
  test('has defaults', async () => {
    const { asked, traces } = counting();
    const { address } = await endpoint({ traces });
    await ask(address, '/observability/traces');
    expect(asked).toEqual([
      {
        limit: 100,
        component: undefined,
        outcomes: undefined,
        minDurationMs: 0,
        text: undefined,
        after: undefined,
      },
    ]);
  });

  test('is a text, and a duration with fractions', async () => {
    const { asked, traces } = counting();
    const { address } = await endpoint({ traces });
    await ask(address, '/observability/traces?text=a%20b&min-duration-ms=0.25');
    expect(asked).toMatchObject([{ text: 'a b', minDurationMs: 0.25 }]);
  });

  test.each([
    ['traces?limit=0', 'limit takes a whole number from 1 to 1000'],
    ['traces?limit=1001', 'limit takes'],
    ['traces?limit=1e2', 'limit takes'],
    ['traces?limit=-1', 'limit takes'],
    ['traces?limit=', 'limit takes'],
    ['traces?outcome=Bad', 'outcome takes Ok, Refused, Failed, TimedOut'],
    ['traces?after=x', 'after takes the value of next'],
    ['traces?min-duration-ms=-1', 'min-duration-ms takes'],
    ['traces?min-duration-ms=1e3', 'min-duration-ms takes'],
    ['traces?min-duration-ms=86400001', 'min-duration-ms takes a number from 0 to 86400000'],
    [`traces?text=${'x'.repeat(201)}`, 'text takes at most 200 characters'],
    [
      'traces?minDurationMs=1',
      'This path takes limit, component, outcome, min-duration-ms, text, after',
    ],
    ['traces?limit=1&limit=2', 'each once at most'],
    ['service?x=1', 'takes no parameters'],
    ['faults?limit=201', 'limit takes'],
    ['entities/cart?limit=1001', 'limit takes'],
    ['entities/cart/c1/history?from=0', 'from takes'],
    ['entities/cart/c1/history?limit=201', 'limit takes'],
    ['query/cart/c1/get?input={', 'input takes JSON'],
    ['query/cart/%C3/get', 'percent-encoded'],
  ])('has bounds: %s is 400 and says why', async (path, why) => {
    const { address } = await endpoint();
    const { status, body } = await ask(address, `/observability/${path}`);
    expect([status, JSON.parse(body).error]).toEqual([400, expect.stringContaining(why)]);
  });
});

describe('bounds', () => {
  test('a request that is too large is refused', async () => {
    const { address } = await endpoint();
    const { status } = await ask(address, `/observability/query/cart/${'x'.repeat(80_000)}/get`);
    expect(status).toBe(431);
  });

  test('an answer that is too large is an error that says so', async () => {
    const { address } = await endpoint({
      query: async () => shown({ text: 'x'.repeat(17 * 1024 * 1024) }),
    });
    const { status, body } = await ask(address, '/observability/query/cart/c1/get');
    expect([status, JSON.parse(body).error]).toEqual([500, expect.stringContaining('16777216')]);
  });

  test('of answers that are not taken: further large ones are 503, and room comes back when their connections end', async () => {
    const MIB = 1024 * 1024;
    const { address, port } = await endpoint({
      query: async ({ id }) => shown({ text: 'x'.repeat(id === 'small' ? 1 : 15 * MIB) }),
    });
    const path = '/observability/query/cart/c1/get';
    const unread = Array.from({ length: 4 }, () => connect(port, '127.0.0.1').pause());
    for (const socket of unread)
      socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`);
    const status = async (where = path) => (await ask(address, where)).status;
    await expect.poll(() => status(), { timeout: 20_000 }).toBe(503);
    expect(await status('/observability/query/cart/small/get')).toBe(200);
    for (const socket of unread) socket.destroy();
    await expect.poll(() => status(), { timeout: 20_000 }).toBe(200);
  });

  test('of answers: a connection has one', async () => {
    const { port } = await endpoint({ query: async () => problem(404, 'none') });
    const socket = connect(port, '127.0.0.1');
    const head = `GET /observability/query/cart/c1/get HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`;
    socket.write(head.repeat(3));
    const said = await text(socket);
    expect(said.match(/^HTTP\/1\.1 404/gm)).toHaveLength(1);
    expect(said).toMatch(/^connection: close\r$/im);
  });

  test('of requests in flight: further ones are refused for the moment, and later ones are answered', async () => {
    const all = Promise.withResolvers<void>();
    const full = Promise.withResolvers<void>();
    let asked = 0;
    const { address } = await endpoint({
      query: async () => {
        if (++asked === 64) full.resolve();
        await all.promise;
        return problem(404, 'none');
      },
    });
    const path = '/observability/query/cart/c1/get';
    const open = Array.from({ length: 64 }, async () => ask(address, path));
    await full.promise;
    expect((await ask(address, path)).status).toBe(503);
    all.resolve();
    expect(new Set((await Promise.all(open)).map(({ status }) => status))).toEqual(new Set([404]));
    expect((await ask(address, path)).status).toBe(404);
  });

  test('what fails in it fails the answer, is reported, and says nothing of itself', async () => {
    const { address, reported } = await endpoint({
      live: () => {
        throw new Error('a secret');
      },
    });
    const { status, body } = await ask(address, '/observability/live');
    expect([status, body]).toEqual([500, expect.not.stringContaining('secret')]);
    expect(reported).toMatchObject([{ message: 'a secret' }]);
    expect((await ask(address, '/observability/nothing')).status).toBe(404);
  });

  test('a close ends what is open', async () => {
    const opened = await openObservability({} as ObservedService, () => {});
    const { address } = opened;
    const request = get(`${address}/observability/nothing`);
    const [response] = await once(request, 'response');
    response.resume();
    await once(response, 'end');
    await opened.close();
    await expect(ask(address, '/observability/nothing')).rejects.toThrow(/ECONNREFUSED/);
  });
});
