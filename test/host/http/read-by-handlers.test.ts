// Bodies that handlers read themselves, after they have judged the head of a request: nothing of a body is read, asked for or
// judged before, and whatever becomes of it, the handler ends.
import { describe, expect, test } from 'vitest';
import { HTTP_SETTINGS_DEFAULT, type HttpSettings } from '../../../host/http/http-settings.ts';
import type { Refusal } from '../../../model/call.ts';
import type { Body, EndpointRequest, EndpointResponse } from '../../../model/endpoint.ts';
import { requestBudgets } from '../../../model/request-budgets.ts';
import {
  ask,
  descriptorOf,
  gate,
  get,
  JSON_BODY,
  ok,
  RawClient,
  start,
  TEXT_BODY,
} from './http-harness.ts';

const MIB = 1024 * 1024;
const ROUTES = descriptorOf([
  ['POST', '/json', JSON_BODY],
  ['POST', '/text', TEXT_BODY],
  ['POST', '/none'],
  ['GET', '/none'],
]);
const REFUSED: EndpointResponse = {
  kind: 'response',
  status: 401,
  headers: [],
  body: { kind: 'none' },
};

/** Reads the body, as a handler of this server may. */
async function bodyOf({ body }: EndpointRequest): Promise<Body | EndpointResponse | Refusal> {
  return body.kind === 'unread' ? await body.read() : body;
}

interface Options {
  readonly settings?: Partial<HttpSettings>;
  /** What the handler waits for before it judges the request. */
  readonly judged?: Promise<void>;
}

/** Starts a server whose handlers read the bodies of requests with the header `token`, and refuse the others. */
async function serve({ settings = {}, judged }: Options = {}) {
  const bodies: Body[] = [];
  let ended = 0;
  const budgets = requestBudgets({ ...HTTP_SETTINGS_DEFAULT, ...settings });
  const running = await start({
    descriptor: ROUTES,
    readsBodies: true,
    settings,
    budgets,
    handle: async (request) => {
      try {
        await judged;
        if (!request.headers.some(([name]) => name === 'token')) return REFUSED;
        const body = await bodyOf(request);
        if (body.kind === 'response' || body.kind === 'refusal') return body;
        bodies.push(body);
        return ok();
      } finally {
        ended += 1;
      }
    },
  });
  return { ...running, bodies, budgets, ended: () => ended };
}

interface Head {
  readonly path?: string;
  readonly type?: string;
  readonly more?: string;
}

const TOKEN = 'token: a\r\n';
const EXPECT = 'expect: 100-continue\r\n';

/** Returns the head of a request with a body of so many bytes. */
function head(bytes: number, { path = '/text', type = 'text/plain', more = '' }: Head = {}) {
  return `POST ${path} HTTP/1.1\r\nhost: t\r\ncontent-type: ${type}\r\n${more}content-length: ${bytes}\r\n\r\n`;
}

function chunkedHead(more = '') {
  return `POST /text HTTP/1.1\r\nhost: t\r\ncontent-type: text/plain\r\n${more}transfer-encoding: chunked\r\n\r\n`;
}

describe('a request that its handler refuses', () => {
  test.each([
    ['a body of 1 MiB', head(MIB)],
    ['a body over the limit', head(MIB + 1)],
    ['a body of another type', head(5, { type: 'image/png' })],
    ['chunks', chunkedHead()],
    ['a body, and waits to be asked for it', head(MIB, { more: EXPECT })],
    ['a body, and has an invalid key', head(MIB, { more: 'idempotency-key: a b\r\n' })],
  ])('that announces %s is answered before a byte of it is sent', async (_, sent) => {
    const { port, bodies } = await serve();
    const client = new RawClient(port).send(sent);
    const answer = await client.answer();
    expect([answer.status, answer.headers['connection']]).toEqual([401, 'close']);
    expect(await client.rest()).toBe('');
    expect(bodies).toEqual([]);
  });

  test('counts in no budget of bodies, whatever of it has arrived', async () => {
    const wait = gate();
    const { port, budgets, server } = await serve({ judged: wait.passed });
    const clients = Array.from({ length: 20 }, () =>
      new RawClient(port).send(head(MIB) + 'x'.repeat(MIB / 2)),
    );
    await expect.poll(() => server.inFlight).toBe(20);
    expect(budgets.bodies.total).toBe(0);
    wait.open();
    for (const client of clients) expect((await client.answer()).status).toBe(401);
    expect(server.inFlight).toBe(0);
  });

  test('whose body has arrived leaves the connection to the next request', async () => {
    const { port, bodies } = await serve();
    const client = new RawClient(port);
    client.send(head(3) + 'abc' + head(2, { more: TOKEN }) + 'ok' + head(1) + 'x' + get('/none'));
    for (const status of [401, 200, 401, 401]) expect((await client.answer()).status).toBe(status);
    expect(bodies).toEqual([{ kind: 'text', text: 'ok' }]);
  });

  test('has no body that is taken for a request', async () => {
    const { port, bodies } = await serve();
    const smuggled = head(4, { more: TOKEN }) + 'evil';
    const whole = new RawClient(port).send(head(smuggled.length) + smuggled + get('/none', TOKEN));
    expect((await whole.answer()).status).toBe(401);
    expect((await whole.answer()).status).toBe(200);
    const cut = new RawClient(port).send(head(smuggled.length + 1));
    expect((await cut.answer()).status).toBe(401);
    cut.send(smuggled);
    expect(await cut.rest()).toBe('');
    expect(bodies).toEqual([{ kind: 'none' }]);
  });

  test('is answered however slowly its body arrives, and waits for no time limit', async () => {
    const { port, server } = await serve();
    const clients = Array.from({ length: 100 }, () => new RawClient(port).send(head(MIB) + 'x'));
    for (const client of clients) expect((await client.answer()).status).toBe(401);
    expect(server.inFlight).toBe(0);
  });
});

describe('a request whose body its handler reads', () => {
  test('has it, by length and in chunks', async () => {
    const { port, bodies, budgets } = await serve();
    const client = new RawClient(port).send(head(5, { more: TOKEN })).send('hello');
    expect((await client.answer()).status).toBe(200);
    client.send(chunkedHead(TOKEN)).send('2\r\nhe\r\n').send('3\r\nllo\r\n0\r\n\r\n');
    expect((await client.answer()).status).toBe(200);
    expect(bodies).toEqual([
      { kind: 'text', text: 'hello' },
      { kind: 'text', text: 'hello' },
    ]);
    expect(budgets.bodies.total).toBe(0);
  });

  test('has the same body however often it is read', async () => {
    const { port } = await start({
      descriptor: ROUTES,
      readsBodies: true,
      handle: async (request) => {
        const first = await bodyOf(request);
        return ok(String(first === (await bodyOf(request)) && first.kind === 'text'));
      },
    });
    expect((await ask(port, `${head(1)}a`)).body).toBe('true');
  });

  test('is asked for it with 100 once the handler reads it, and not before', async () => {
    const wait = gate();
    const { port, server } = await serve({ judged: wait.passed });
    const client = new RawClient(port).send(head(2, { more: TOKEN + EXPECT }));
    let received = '';
    client.socket.on('data', (text: string) => (received += text));
    await expect.poll(() => server.inFlight).toBe(1);
    expect(received).toBe('');
    wait.open();
    expect((await client.answer()).status).toBe(100);
    expect((await client.send('ok').answer()).status).toBe(200);
  });

  test.each([
    ['over the limit', head(MIB + 1, { more: TOKEN }), 413],
    ['of another type', `${head(1, { more: TOKEN, type: 'image/png' })}x`, 415],
    ['that is not UTF-8', `${head(1, { more: TOKEN })}\u00ff`, 400],
    ['that is missing', head(0, { more: TOKEN, path: '/json' }), 400],
    ['with an invalid key', head(MIB, { more: `${TOKEN}idempotency-key: a b\r\n` }), 400],
    ['of no bytes, with an invalid key', head(0, { more: `${TOKEN}idempotency-key: \r\n` }), 400],
    ['over the limit of a route without one', head(MIB + 1, { more: TOKEN, path: '/none' }), 413],
  ])('and that has one %s is refused', async (_, sent, status) => {
    const { port, bodies, ended } = await serve();
    const answer = await ask(port, sent);
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.body)).toEqual({ status, error: expect.any(String) });
    expect(bodies).toEqual([]);
    await expect.poll(ended).toBe(1);
  });

  test('and whose chunks exceed the limit is 413, and the connection closes', async () => {
    const { port, bodies } = await serve({ settings: { bodyBytesMax: 1000 } });
    const chunk = 'x'.repeat(0x3e9);
    const client = new RawClient(port).send(`${chunkedHead(TOKEN)}3e9\r\n${chunk}\r\n`);
    const answer = await client.answer();
    expect([answer.status, answer.headers['connection']]).toEqual([413, 'close']);
    expect(bodies).toEqual([]);
  });

  test('is 503 when other bodies fill the budget', async () => {
    const { port, budgets, server } = await serve({
      settings: { bodyBytesMax: 64 * 1024, bodyBytesTotalMax: 128 * 1024 },
    });
    const part = head(60 * 1024, { more: TOKEN }) + 'x'.repeat(50 * 1024);
    const slow = [new RawClient(port).send(part), new RawClient(port).send(part)];
    await expect.poll(() => budgets.bodies.total).toBeGreaterThanOrEqual(100 * 1024);
    const answer = await ask(port, head(40 * 1024, { more: TOKEN }) + 'y'.repeat(40 * 1024));
    expect([answer.status, answer.headers['retry-after']]).toEqual([503, '1']);
    for (const { socket } of slow) socket.destroy();
    await expect.poll(() => [budgets.bodies.total, server.inFlight]).toEqual([0, 0]);
  });
});

describe('the handler of a request ends', () => {
  test('when the caller leaves before its body is complete', async () => {
    const { port, server, bodies, ended, budgets, lines } = await serve();
    const client = new RawClient(port).send(`${head(MIB, { more: TOKEN })}abc`);
    await expect.poll(() => budgets.bodies.total).toBe(3);
    client.socket.destroy();
    await expect.poll(() => [ended(), server.inFlight, budgets.bodies.total]).toEqual([1, 0, 0]);
    expect([bodies, lines]).toEqual([[], []]);
  });

  test('when the caller has left before it reads the body', async () => {
    const wait = gate();
    const { port, server, bodies, ended, lines } = await serve({ judged: wait.passed });
    const client = new RawClient(port).send(head(MIB, { more: TOKEN }));
    await expect.poll(() => server.inFlight).toBe(1);
    client.socket.resetAndDestroy();
    // Meanwhile the server notices the reset.
    expect((await ask(port, get('/nowhere'))).status).toBe(404);
    wait.open();
    await expect.poll(() => [ended(), server.inFlight]).toEqual([1, 0]);
    expect([bodies, lines]).toEqual([[], []]);
  });

  test('when the caller ends its side before the body is complete, which is 400', async () => {
    const { port, bodies, ended } = await serve();
    const client = new RawClient(port, { allowHalfOpen: true });
    client.send(`${head(10, { more: TOKEN })}abc`).socket.end();
    expect((await client.answer()).status).toBe(400);
    await expect.poll(ended).toBe(1);
    expect(bodies).toEqual([]);
  });

  test('when the body does not arrive in time, which is 408', async () => {
    const settings = { requestTimeoutMs: 50, headersTimeoutMs: 50 };
    const { port, server, bodies, ended } = await serve({ settings });
    const client = new RawClient(port).send(`${head(10, { more: TOKEN })}abc`);
    expect((await client.answer()).status).toBe(408);
    await expect.poll(() => [ended(), server.inFlight]).toEqual([1, 0]);
    expect(bodies).toEqual([]);
  });

  test('when a chunk is malformed, which is 400', async () => {
    const { port, bodies, ended } = await serve();
    expect((await ask(port, `${chunkedHead(TOKEN)}2\r\nab\r\nzz\r\n`)).status).toBe(400);
    await expect.poll(ended).toBe(1);
    expect(bodies).toEqual([]);
  });

  test('when it judges too long: 504, and nothing of the body is read afterwards', async () => {
    const wait = gate();
    const settings = { answerTimeoutMs: 20 };
    const { port, server, bodies, ended } = await serve({ settings, judged: wait.passed });
    expect((await ask(port, `${head(2, { more: TOKEN })}ok`)).status).toBe(504);
    wait.open();
    await expect.poll(() => [ended(), server.inFlight]).toEqual([1, 0]);
    expect(bodies).toEqual([]);
  });
});
