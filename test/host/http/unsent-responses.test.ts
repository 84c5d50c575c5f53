// Callers that send requests and do not read the responses. A response is counted until its last byte has left the
// process. The operating system buffers some megabytes of it immediately, so these responses are larger.
import { describe, expect, test } from 'vitest';
import type { RequestBudgets } from '../../../model/request-budgets.ts';
import { requestBudgets } from '../../../model/request-budgets.ts';
import { HTTP_SETTINGS_DEFAULT, type HttpSettings } from '../../../host/http/http-settings.ts';
import { ask, descriptorOf, gate, get, ok, RawClient, start } from './http-harness.ts';

const MIB = 1024 * 1024;
const LARGE = 12 * MIB;
const ROUTES = descriptorOf([
  ['GET', '/large'],
  ['GET', '/small'],
]);
const SETTINGS = { unsentBytesMax: 64 * MIB, responseBytesMax: 16 * MIB };

function budgetsOf(settings = SETTINGS): RequestBudgets {
  return requestBudgets({ ...HTTP_SETTINGS_DEFAULT, ...settings });
}

const large = () => ok('x'.repeat(LARGE));

/** A caller that has sent a request and reads only the first bytes of the response. */
async function unreadingCaller(port: number, requests = get('/large')): Promise<RawClient> {
  const client = new RawClient(port).send(requests);
  await new Promise((resolve) => client.socket.once('data', resolve));
  client.socket.pause();
  return client;
}

async function serveLarge(settings: Partial<HttpSettings> = {}, budgets = budgetsOf()) {
  let calls = 0;
  const running = await start({
    descriptor: ROUTES,
    settings: { ...SETTINGS, ...settings },
    budgets,
    handle: ({ route }) => {
      calls += 1;
      return route === 0 ? large() : ok();
    },
  });
  return { ...running, unsent: budgets.unsent, calls: () => calls };
}

describe('responses that callers do not read', () => {
  test('have a bound together: beyond it requests are 503 with Retry-After, and their handlers do not run', async () => {
    const { port, unsent, calls } = await serveLarge();
    // There is room for a response of the maximum size as long as less than 48 MiB are unsent.
    for (let n = 0; n < 4; n++) await unreadingCaller(port);
    expect(unsent.total).toBeGreaterThan(4 * LARGE);
    for (const path of ['/large', '/small']) {
      const answer = await ask(port, get(path));
      expect(answer.status).toBe(503);
      expect(answer.headers['retry-after']).toBe('1');
      expect(answer.body).toContain('SVC_OVERLOADED');
    }
    expect(calls()).toBe(4);
    expect(unsent.total).toBeLessThan(SETTINGS.unsentBytesMax);
  });

  test('release their bytes when they are read, and when their callers disconnect', async () => {
    const { port, unsent } = await serveLarge();
    const clients = [];
    for (let n = 0; n < 4; n++) clients.push(await unreadingCaller(port));
    expect((await ask(port, get('/small'))).status).toBe(503);
    clients[0]!.socket.resume();
    expect((await clients[0]!.answer()).body).toHaveLength(LARGE);
    expect((await ask(port, get('/small'))).status).toBe(200);
    for (const { socket } of clients) socket.destroy();
    await expect.poll(() => unsent.total).toBe(0);
  });

  test('release their bytes when their handler is done, if it runs longer than its answer', async () => {
    const budgets = budgetsOf();
    const { passed, open } = gate();
    const { port } = await start({
      descriptor: ROUTES,
      settings: { ...SETTINGS, answerTimeoutMs: 1 },
      budgets,
      handle: async () => {
        await passed;
        return ok();
      },
    });
    expect((await ask(port, get('/small'))).status).toBe(504);
    expect(budgets.unsent.total).toBeGreaterThan(0);
    open();
    await expect.poll(() => budgets.unsent.total).toBe(0);
  });

  test('of another thread count as well, until it ends', async () => {
    const budgets = budgetsOf();
    const { port } = await serveLarge({}, budgets);
    budgets.unsent.add(60 * MIB);
    expect((await ask(port, get('/small'))).status).toBe(503);
    budgets.unsent.add(-60 * MIB);
    expect((await ask(port, get('/small'))).status).toBe(200);
  });

  test('leave space for small responses of requests that already run; a large one without space is discarded', async () => {
    const budgets = budgetsOf();
    const { passed, open } = gate();
    const { port, server } = await start({
      descriptor: ROUTES,
      settings: SETTINGS,
      budgets,
      handle: async ({ route }) => {
        await passed;
        return route === 0 ? large() : ok('y'.repeat(16_000));
      },
    });
    const [dropped, small] = [new RawClient(port), new RawClient(port)];
    dropped.send(get('/large'));
    small.send(get('/small'));
    await expect.poll(() => server.inFlight).toBe(2);
    budgets.unsent.add(SETTINGS.unsentBytesMax);
    open();
    expect((await small.answer()).body).toHaveLength(16_000);
    const answer = await dropped.answer();
    expect(answer.status).toBe(504);
    expect(answer.body).toContain('SVC_RESPONSE_DROPPED');
    await expect.poll(() => budgets.unsent.total).toBe(SETTINGS.unsentBytesMax);
  });

  test('of refusals count as well', async () => {
    const budgets = budgetsOf();
    const { port } = await start({
      descriptor: ROUTES,
      settings: SETTINGS,
      budgets,
      handle: () => ({ kind: 'refusal', code: 'CONFLICT', message: 'x'.repeat(LARGE) }),
    });
    await unreadingCaller(port);
    expect(budgets.unsent.total).toBeGreaterThan(LARGE);
  });

  test('are no longer counted once all were read, in pieces or not', async () => {
    const { port, unsent } = await serveLarge();
    const client = new RawClient(port);
    for (const path of ['/small', '/large', '/small']) {
      client.send(get(path));
      expect((await client.answer()).status).toBe(200);
    }
    client.send('HEAD /large HTTP/1.1\r\nhost: test\r\n\r\n');
    expect((await client.answer(false)).headers['content-length']).toBe(String(LARGE));
    client.send(get('/small'));
    expect((await client.answer()).body).toBe('ok');
    await expect.poll(() => unsent.total).toBe(0);
  });
});

describe('pipelined requests', () => {
  test('wait while the connection keeps a large response, and are served in order once it is read', async () => {
    const { port, unsent, calls } = await serveLarge();
    const client = await unreadingCaller(port, get('/large').repeat(3) + get('/small'));
    await ask(port, get('/small'));
    expect(calls()).toBe(2);
    expect(unsent.total).toBeLessThan(1.5 * LARGE);
    client.socket.resume();
    for (let n = 0; n < 3; n++) expect((await client.answer()).body).toHaveLength(LARGE);
    expect((await client.answer()).body).toBe('ok');
    expect(calls()).toBe(5);
    client.send(get('/small'));
    expect((await client.answer()).body).toBe('ok');
  });

  test('are not read any more meanwhile, however many there are', async () => {
    const { port } = await start({
      descriptor: ROUTES,
      settings: { responseBytesMax: 64 * MIB, requestsInFlightMax: 100_000 },
      // More than the operating system buffers in addition to what the caller reads.
      handle: ({ route }) => (route === 0 ? ok('x'.repeat(48 * MIB)) : ok()),
    });
    const client = await unreadingCaller(port);
    // Some hundred responses are read at a time.
    const padded = `GET /small HTTP/1.1\r\nhost: test\r\npadding: ${'p'.repeat(150)}\r\n\r\n`;
    const many = 5000;
    client.send(padded.repeat(many));
    client.socket.resume();
    expect((await client.answer()).body).toHaveLength(48 * MIB);
    // More responses than may wait, so none of them was read too early.
    for (let n = 0; n < many; n++) expect((await client.answer()).status).toBe(200);
  });

  test('are served in order, and a last response says that what followed them is not HTTP', async () => {
    const { port, server, calls } = await serveLarge();
    const client = await unreadingCaller(
      port,
      get('/large') + get('/small').repeat(3) + 'no HTTP\r\n\r\n',
    );
    await ask(port, get('/small'));
    client.socket.resume();
    expect((await client.answer()).body).toHaveLength(LARGE);
    for (let n = 0; n < 3; n++) expect((await client.answer()).body).toBe('ok');
    expect((await client.answer()).status).toBe(400);
    await expect.poll(() => server.inFlight).toBe(0);
    expect(calls()).toBe(5);
  });

  test('that wait are not in flight, so a caller that does not read keeps no others out', async () => {
    const { port, unsent } = await serveLarge({ requestsInFlightMax: 3 });
    const client = await unreadingCaller(port, get('/large') + get('/small').repeat(50));
    expect((await ask(port, get('/small'))).status).toBe(200);
    client.socket.resume();
    expect((await client.answer()).body).toHaveLength(LARGE);
    for (let n = 0; n < 50; n++) expect((await client.answer()).body).toBe('ok');
    await expect.poll(() => unsent.total).toBe(0);
  });

  test('that wait are not served when their caller disconnects', async () => {
    const { port, server, unsent, calls } = await serveLarge();
    const client = await unreadingCaller(port, get('/large').repeat(5));
    await ask(port, get('/small'));
    client.socket.destroy();
    await expect.poll(() => server.inFlight).toBe(0);
    await expect.poll(() => unsent.total).toBe(0);
    expect(calls()).toBe(2);
  });

  test('beyond the limit in flight are 503, each in its turn', async () => {
    const { passed, open } = gate();
    const { port, server } = await start({
      descriptor: ROUTES,
      settings: { requestsInFlightMax: 3 },
      handle: async () => {
        await passed;
        return ok();
      },
    });
    const client = new RawClient(port).send(get('/small').repeat(50));
    await expect.poll(() => server.inFlight).toBe(3);
    expect((await ask(port, get('/small'))).status).toBe(503);
    open();
    for (let n = 0; n < 3; n++) expect((await client.answer()).status).toBe(200);
    for (let n = 3; n < 50; n++) {
      const { status, headers } = await client.answer();
      expect([status, headers['retry-after']]).toEqual([503, '1']);
    }
    expect((await client.send(get('/small')).answer()).status).toBe(200);
    await expect.poll(() => server.inFlight).toBe(0);
  });

  test('that are dropped with their connection take no space from later requests', async () => {
    const { passed, open } = gate();
    const { port, server } = await start({
      descriptor: ROUTES,
      settings: { requestsInFlightMax: 1 },
      handle: async () => {
        await passed;
        return ok();
      },
    });
    const first = new RawClient(port).send(get('/small').repeat(40_000));
    await expect.poll(() => server.inFlight).toBe(1);
    first.socket.resetAndDestroy();
    open();
    await expect.poll(async () => (await ask(port, get('/small'))).status).toBe(200);
  });
});

describe('a caller that takes too little of a response', () => {
  const slow = { ...SETTINGS, responseBytesMax: 64 * MIB, responseRateGraceMs: 40 };
  const serveSlow = (responseRateMin: number, budgets = budgetsOf(slow)) =>
    start({
      descriptor: ROUTES,
      budgets,
      settings: { ...slow, responseRateMin, stallTimeoutMs: 600_000 },
      handle: () => ok('x'.repeat(48 * MIB)),
    });

  test('is cut, also one that reads a byte now and then', async () => {
    const budgets = budgetsOf(slow);
    const { port } = await serveSlow(256 * MIB, budgets);
    const client = new RawClient(port);
    client.socket.removeAllListeners('data').pause();
    client.send(get('/large'));
    const reads = setInterval(() => client.socket.read(1), 5);
    await expect.poll(() => budgets.unsent.total).toBeGreaterThan(0);
    await expect.poll(() => budgets.unsent.total).toBe(0);
    clearInterval(reads);
  });

  test('is not cut as long as it takes enough', async () => {
    const { port } = await serveSlow(1);
    const client = new RawClient(port).send(get('/large'));
    expect((await client.answer()).body).toHaveLength(48 * MIB);
  });
});
