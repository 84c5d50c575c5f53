// Sending again: which requests, how often, after which pauses, and always with the same key.
import { assert, double, integer, property } from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  ApiError,
  NoAnswerError,
  RETRY_LIMITS_DEFAULT,
  createClient,
} from '../../../client/index.ts';
import { retryAfterS } from '../../../client/control-plane/exchange.ts';
import { pauseAfter } from '../../../client/control-plane/retries.ts';
import { STATUS, ScriptedServer, answer, type Script } from '../support/scripted-server.ts';

const CART_KEY = { projectId: 'shop', name: 'cart' };
const QUICK = { pauseMs: 1, pauseMsMax: 2 };
const busy = (status: number) => ({ status, error: 'busy' });

function refused(retryAfter?: number): ApiError {
  return new ApiError('whoami', { status: 503, reason: 'busy', retryAfterS: retryAfter });
}

function failing(times: number, fail: Script): Script {
  return (response, request, count) => {
    if (count < times) fail(response, request, count);
    else answer(response, 200, STATUS);
  };
}

describe('a write is sent again with the same key', () => {
  test.each<[string, Script]>([
    ['after 503', (response) => answer(response, 503, busy(503))],
    ['after 504', (response) => answer(response, 504, busy(504))],
    ['after a connection that was lost', (response) => response.destroy()],
    [
      'after an answer that was cut',
      (response) => {
        response.writeHead(200, { 'Content-Length': '100' });
        response.write('{"name":', () => response.destroy());
      },
    ],
  ])('%s', async (_title, fail) => {
    await using server = await ScriptedServer.start(failing(3, fail));
    const client = createClient({ baseUrl: server.url, token: 't', retries: QUICK });
    const body = { name: 'cart', image: 'cart:1' };
    expect(await client.applyService({ ...CART_KEY, body })).toEqual(STATUS);
    expect(server.requests).toHaveLength(4);
    expect(new Set(server.requests.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
    expect(new Set(server.requests.map((request) => request.body))).toEqual(
      new Set([JSON.stringify(body)]),
    );
  });

  test('and calls have different keys, or the given one', async () => {
    await using server = await ScriptedServer.start(failing(0, () => {}));
    const client = createClient({ baseUrl: server.url, token: 't' });
    await client.restartService(CART_KEY);
    await client.restartService(CART_KEY);
    await client.restartService(CART_KEY, { idempotencyKey: 'mine' });
    const keys = server.requests.map(({ headers }) => headers['idempotency-key']);
    expect(new Set(keys).size).toBe(3);
    expect(keys[2]).toBe('mine');
  });

  test('when the answer is late, too', async () => {
    await using server = await ScriptedServer.start(failing(1, () => {}));
    const client = createClient({
      baseUrl: server.url,
      token: 't',
      timeoutMs: 200,
      retries: QUICK,
    });
    expect(await client.pauseService(CART_KEY)).toEqual(STATUS);
    expect(server.requests).toHaveLength(2);
  });
});

describe('a deletion that is sent again', () => {
  test.each<[string, Script]>([
    ['after 504', (response) => answer(response, 504, busy(504))],
    ['after a connection that was lost', (response) => response.destroy()],
  ])('%s is done if there is nothing any more', async (_title, fail) => {
    await using server = await ScriptedServer.start((response, request, count) => {
      if (count === 0) fail(response, request, count);
      else answer(response, 404, { status: 404, error: 'there is none' });
    });
    const client = createClient({ baseUrl: server.url, retries: QUICK });
    expect(await client.deleteService(CART_KEY)).toBeUndefined();
    expect(server.requests).toHaveLength(2);
  });

  test('after 503 and one of nothing are refused with 404, and so is any other write', async () => {
    const statuses = [503, 404, 404, 504, 404];
    await using server = await ScriptedServer.start((response) => {
      const status = statuses.shift()!;
      answer(response, status, busy(status));
    });
    const client = createClient({ baseUrl: server.url, retries: QUICK });
    await expect(client.deleteService(CART_KEY)).rejects.toMatchObject({ status: 404 });
    await expect(client.deleteService(CART_KEY)).rejects.toMatchObject({ status: 404 });
    await expect(client.pauseService(CART_KEY)).rejects.toMatchObject({ status: 404 });
    expect(statuses).toEqual([]);
  });
});

describe('a request is not sent again', () => {
  test('after the attempts are used up, and the last error is thrown', async () => {
    await using server = await ScriptedServer.start((response, _, count) =>
      answer(response, 503, { status: 503, error: `busy ${count}` }),
    );
    const client = createClient({ baseUrl: server.url, retries: { ...QUICK, attemptsMax: 3 } });
    await expect(client.getService(CART_KEY)).rejects.toMatchObject({ reason: 'busy 2' });
    expect(server.requests).toHaveLength(3);
  });

  test.each([400, 401, 403, 404, 409, 413, 429, 500, 502])('after %d', async (status) => {
    await using server = await ScriptedServer.start((response) =>
      answer(response, status, busy(status)),
    );
    const client = createClient({ baseUrl: server.url, retries: QUICK });
    await expect(client.getService(CART_KEY)).rejects.toMatchObject({ status });
    expect(server.requests).toHaveLength(1);
  });

  test('once the signal of the caller is aborted, also in a pause', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    await using server = await ScriptedServer.start((response) => {
      answer(response, 503, busy(503), { 'Retry-After': '30' });
      response.on('close', () => setImmediate(() => controller.abort(reason)));
    });
    const client = createClient({ baseUrl: server.url });
    const { signal } = controller;
    await expect(client.getService(CART_KEY, { signal })).rejects.toBe(reason);
    await expect(client.getService(CART_KEY, { signal })).rejects.toBe(reason);
    expect(server.requests).toHaveLength(1);
  });

  test('when the caller aborts it while it is answered', async () => {
    const controller = new AbortController();
    await using server = await ScriptedServer.start((response) => {
      response.writeHead(200);
      response.write('{');
      setImmediate(() => controller.abort());
    });
    const client = createClient({ baseUrl: server.url });
    await expect(client.getService(CART_KEY, { signal: controller.signal })).rejects.toMatchObject({
      name: 'AbortError',
    });
    expect(server.requests).toHaveLength(1);
  });

  test('to a server that is not there, beyond the attempts', async () => {
    const server = await ScriptedServer.start(() => {});
    const { url } = server;
    await server[Symbol.asyncDispose]();
    const client = createClient({ baseUrl: url, retries: QUICK });
    const call = client.whoami();
    await expect(call).rejects.toBeInstanceOf(NoAnswerError);
    await expect(call).rejects.toMatchObject({ kind: 'connection' });
  });
});

describe('the pause before the next attempt', () => {
  test('doubles up to its maximum, and is in its second half', () => {
    assert(
      property(
        integer({ min: 1, max: 60 }),
        double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (attempt, random) => {
          const limits = { ...RETRY_LIMITS_DEFAULT, attemptsMax: 100 };
          const longest = Math.min(5000, 200 * 2 ** (attempt - 1));
          const pauseMs = pauseAfter(refused(), attempt, limits, random)!;
          expect(pauseMs).toBeGreaterThanOrEqual(longest / 2);
          expect(pauseMs).toBeLessThanOrEqual(longest);
        },
      ),
    );
  });

  test('is at least Retry-After, and there is none if that is too long', () => {
    expect(pauseAfter(refused(5), 1, RETRY_LIMITS_DEFAULT, 0.5)).toBe(5000);
    expect(pauseAfter(refused(30), 1, RETRY_LIMITS_DEFAULT, 0.5)).toBe(30_000);
    expect(pauseAfter(refused(31), 1, RETRY_LIMITS_DEFAULT, 0.5)).toBeUndefined();
    expect(pauseAfter(refused(), 4, RETRY_LIMITS_DEFAULT, 0.5)).toBeUndefined();
    expect(pauseAfter(new TypeError('a bug'), 1, RETRY_LIMITS_DEFAULT, 0.5)).toBeUndefined();
  });

  test.each([
    ['5', 5],
    ['0', 0],
    ['Thu, 01 Jan 1970 00:00:10 GMT', 9],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
    ['-1', undefined],
    ['1.5', undefined],
    ['soon', undefined],
    ['', undefined],
    [null, undefined],
  ])('Retry-After %j is %j seconds', (header, seconds) => {
    expect(retryAfterS(header, 1000)).toBe(seconds);
  });
});
