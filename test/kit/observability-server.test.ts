// ObservabilityServer over real sockets: which clients it answers, and its bounds.
import { connect } from 'node:net';
import { get, request as send, type IncomingHttpHeaders } from 'node:http';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openObservability } from '../../kit/observability-server.ts';
import { type ObservedAnswer, problem, shown } from '../../kit/observed-answer.ts';
import { schemaProblems } from '../support/observed-process.ts';

const TRACES = {
  traces: [],
  window: { capacity: 1, recorded: 0 },
  total: 0,
  newer: 0,
  previous: null,
  next: null,
  silentShards: [],
};

/** By default, no request may reach the service. */
async function endpoint(
  observe: (target: string) => Promise<ObservedAnswer> = async (target) => {
    throw new Error(`nobody should ask for ${target}`);
  },
) {
  const reported: unknown[] = [];
  const opened = await openObservability(observe, (error) => reported.push(error));
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

describe('who is answered', () => {
  test('is a program that asks loopback, with JSON that nobody keeps or takes for something else', async () => {
    const { address } = await endpoint(async () => shown(TRACES));
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
    const { address } = await endpoint(async () => ({ status: 200, body: reply }));
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
    const { address } = await endpoint(async () => shown(TRACES));
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
    const { address } = await endpoint(async () => shown(TRACES));
    const answer = await ask(address, '/observability/traces', { method: 'HEAD' });
    expect([answer.status, answer.body]).toEqual([200, '']);
    expect(answer.headers['content-length']).toBe(String(JSON.stringify(TRACES).length));
  });
});

describe('bounds', () => {
  test('a request that is too large is refused', async () => {
    const { address } = await endpoint();
    const { status } = await ask(address, `/observability/query/cart/${'x'.repeat(80_000)}/get`);
    expect(status).toBe(431);
  });

  test('an answer that is too large is an error that says so', async () => {
    const { address } = await endpoint(async () => shown({ text: 'x'.repeat(17 * 1024 * 1024) }));
    const { status, body } = await ask(address, '/observability/query/cart/c1/get');
    expect([status, JSON.parse(body).error]).toEqual([500, expect.stringContaining('16777216')]);
  });

  test('of answers that are not taken: further large ones are 503, and room comes back when their connections end', async () => {
    const MIB = 1024 * 1024;
    const { address, port } = await endpoint(async (target) =>
      shown({ text: 'x'.repeat(target.includes('/small/') ? 1 : 15 * MIB) }),
    );
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
    const { port } = await endpoint(async () => problem(404, 'none'));
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
    const { address } = await endpoint(async () => {
      if (++asked === 64) full.resolve();
      await all.promise;
      return problem(404, 'none');
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
    const { address, reported } = await endpoint(async (target) => {
      if (target === '/observability/live') throw new Error('a secret');
      return problem(404, 'none');
    });
    const { status, body } = await ask(address, '/observability/live');
    expect([status, body]).toEqual([500, expect.not.stringContaining('secret')]);
    expect(reported).toMatchObject([{ message: 'a secret' }]);
    expect((await ask(address, '/observability/nothing')).status).toBe(404);
  });

  test('a close ends what is open', async () => {
    const opened = await openObservability(
      async () => problem(404, 'none'),
      () => {},
    );
    const { address } = opened;
    const request = get(`${address}/observability/nothing`);
    const [response] = await once(request, 'response');
    response.resume();
    await once(response, 'end');
    await opened.close();
    await expect(ask(address, '/observability/nothing')).rejects.toThrow(/ECONNREFUSED/);
  });
});
