import { afterEach, describe, expect, test, vi } from 'vitest';
import { ask, descriptorOf, gate, get, ok, RawClient, start, TEXT_BODY } from './http-harness.ts';

const ONE_ROUTE = descriptorOf([['GET', '/a']]);

afterEach(() => void vi.useRealTimers());

describe('load and time', () => {
  test('more requests in flight than the limit are 503 with Retry-After, and it recovers', async () => {
    const handler = gate();
    const { port, lines } = await start({
      descriptor: ONE_ROUTE,
      settings: { requestsInFlightMax: 2 },
      handle: async () => {
        await handler.passed;
        return ok();
      },
    });
    const held = [new RawClient(port).send(get('/a')), new RawClient(port).send(get('/a'))];
    // Whichever two of the three requests come first, the third one is refused.
    const third = new RawClient(port).send(get('/a'));
    const refused = await Promise.race([...held, third].map((client) => client.answer()));
    expect(refused.status).toBe(503);
    expect(refused.headers['retry-after']).toBe('1');
    expect(JSON.parse(refused.body)).toEqual({
      status: 503,
      error: expect.stringContaining('SVC_OVERLOADED'),
    });
    handler.open();
    await expect.poll(async () => (await ask(port, get('/a'))).status).toBe(200);
    expect(lines).toEqual([]);
  });

  test('requests whose callers have gone do not use up the limit', async () => {
    const handler = gate();
    let begun = 0;
    const { port } = await start({
      descriptor: ONE_ROUTE,
      settings: { requestsInFlightMax: 5 },
      handle: async () => {
        begun += 1;
        await handler.passed;
        return ok();
      },
    });
    // The requests are pipelined: only the first response uses the socket when it closes.
    const client = new RawClient(port).send(get('/a').repeat(5));
    await expect.poll(() => begun).toBe(5);
    client.socket.destroy();
    handler.open();
    await expect.poll(async () => (await ask(port, get('/a'))).status).toBe(200);
    const again = new RawClient(port).send(get('/a').repeat(4));
    for (let index = 0; index < 4; index++) expect((await again.answer()).status).toBe(200);
  });

  test('a handler that does not begin to answer in time is 504, and what it says later is dropped', async () => {
    const handler = gate();
    const { port, lines } = await start({
      descriptor: ONE_ROUTE,
      settings: { answerTimeoutMs: 30 },
      handle: async () => {
        await handler.passed;
        return ok('late');
      },
    });
    const client = new RawClient(port);
    const answer = await client.send(get('/a')).answer();
    expect(answer.status).toBe(504);
    expect(JSON.parse(answer.body)).toEqual({
      status: 504,
      error: expect.stringContaining('SVC_ANSWER_TIMED_OUT'),
      errorId: lines[0]!.fields.errorId,
    });
    expect(lines.map((line) => [line.level, line.fields.code, line.fields.route])).toEqual([
      ['warn', 'SVC_ANSWER_TIMED_OUT', 'GET /a'],
    ]);
    handler.open();
    const next = await client.send(get('/a')).answer();
    expect([next.status, next.body]).toEqual([200, 'late']);
  });

  test('a handler that is late still counts as in flight', async () => {
    const handler = gate();
    const { port } = await start({
      descriptor: ONE_ROUTE,
      settings: { answerTimeoutMs: 20, requestsInFlightMax: 1 },
      handle: async () => {
        await handler.passed;
        return ok();
      },
    });
    expect((await ask(port, get('/a'))).status).toBe(504);
    expect((await ask(port, get('/a'))).status).toBe(503);
    handler.open();
    await expect.poll(async () => (await ask(port, get('/a'))).status).toBe(200);
  });

  test('a caller that has gone is not called late', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const begun = [gate(), gate()];
    let arrived = 0;
    const { port, lines } = await start({
      descriptor: descriptorOf([['GET', '/{x}']]),
      settings: { answerTimeoutMs: 300 },
      handle: () => {
        begun[arrived++]!.open();
        return new Promise(() => undefined);
      },
    });
    const client = new RawClient(port).send(get('/1'));
    await begun[0]!.passed;
    client.socket.resetAndDestroy();
    const answer = ask(port, get('/2'));
    await begun[1]!.passed;
    vi.advanceTimersByTime(300);
    expect((await answer).status).toBe(504);
    expect(lines).toHaveLength(1);
  });

  test('an answer that has begun is never cut by the deadline', async () => {
    const text = 'x'.repeat(32 * 1024 * 1024);
    const { port } = await start({
      descriptor: descriptorOf([
        ['GET', '/long'],
        ['GET', '/never'],
      ]),
      settings: { answerTimeoutMs: 20, responseBytesMax: 2 * text.length },
      handle: (request) =>
        request.route === 0 ? Promise.resolve(ok(text)) : new Promise(() => undefined),
    });
    const client = new RawClient(port).send(get('/long'));
    await new Promise((resolve) => client.socket.once('data', resolve));
    client.socket.pause();
    // This request came later, so the deadline of the first has passed too.
    expect((await ask(port, get('/never'))).status).toBe(504);
    client.socket.resume();
    const answer = await client.answer();
    expect([answer.status, answer.body.length]).toEqual([200, text.length]);
  });

  test('a caller that takes nothing of its answer is cut in the end', async () => {
    const { port, server } = await start({
      descriptor: ONE_ROUTE,
      settings: { answerTimeoutMs: 50, stallTimeoutMs: 50, responseBytesMax: 64 * 1024 * 1024 },
      handle: () => ok('x'.repeat(64 * 1024 * 1024)),
    });
    const client = new RawClient(port).send(get('/a'));
    await new Promise((resolve) => client.socket.once('data', resolve));
    client.socket.pause();
    await server.stop(600_000);
    client.socket.resume();
    expect((await client.rest()).length).toBeLessThan(64 * 1024 * 1024);
  });

  test('a request whose headers do not arrive in time is 408', async () => {
    const { port } = await start({
      descriptor: ONE_ROUTE,
      settings: { headersTimeoutMs: 40, requestTimeoutMs: 5000 },
    });
    const client = new RawClient(port).send('GET /a HTTP/1.1\r\nhost: t\r\n');
    const answer = await client.answer();
    expect(answer.status).toBe(408);
    expect(JSON.parse(answer.body)).toEqual({ status: 408, error: expect.any(String) });
    await client.closed();
  });

  test('a body that does not arrive in time is 408, and the handler does not run', async () => {
    let calls = 0;
    const { port } = await start({
      descriptor: descriptorOf([['POST', '/a', TEXT_BODY]]),
      settings: { headersTimeoutMs: 40, requestTimeoutMs: 80, lingerTimeoutMs: 100 },
      handle: () => {
        calls += 1;
        return ok();
      },
    });
    const client = new RawClient(port).send(
      'POST /a HTTP/1.1\r\nhost: t\r\ncontent-type: text/plain\r\ncontent-length: 10\r\n\r\nabc',
    );
    expect((await client.answer()).status).toBe(408);
    client.send('defghij');
    expect(await client.rest()).toBe('');
    expect(calls).toBe(0);
  });
});
