// Callers that send requests and do not read what is answered. A response counts until its last byte has left the
// process; the buffers of the system take some megabytes of it at once, so these are larger.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import type { RequestBudgets } from '../../../host/model/request-budgets.ts';
import { requestBudgets } from '../../../host/model/request-budgets.ts';
import { HTTP_SETTINGS_DEFAULT } from '../../../host/http/http-settings.ts';
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

/** A caller that has asked and reads nothing but the first bytes of what is answered. */
async function deafCaller(port: number, requests = get('/large')): Promise<RawClient> {
  const client = new RawClient(port).send(requests);
  await new Promise((resolve) => client.socket.once('data', resolve));
  client.socket.pause();
  return client;
}

async function serveLarge(budgets = budgetsOf()) {
  let calls = 0;
  const running = await start({
    descriptor: ROUTES,
    settings: SETTINGS,
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
    // There is room for the largest response that there may be as long as less than 48 MiB wait.
    for (let n = 0; n < 4; n++) await deafCaller(port);
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

  test('are given back when they are read, and when their callers go', async () => {
    const { port, unsent } = await serveLarge();
    const clients = [];
    for (let n = 0; n < 4; n++) clients.push(await deafCaller(port));
    expect((await ask(port, get('/small'))).status).toBe(503);
    clients[0]!.socket.resume();
    expect((await clients[0]!.answer()).body).toHaveLength(LARGE);
    expect((await ask(port, get('/small'))).status).toBe(200);
    for (const { socket } of clients) socket.destroy();
    await expect.poll(() => unsent.total).toBe(0);
  });

  test('of another thread count as well, until it ends', async () => {
    const budgets = budgetsOf();
    const { port } = await serveLarge(budgets);
    budgets.unsent.add(60 * MIB);
    expect((await ask(port, get('/small'))).status).toBe(503);
    budgets.unsent.add(-60 * MIB);
    expect((await ask(port, get('/small'))).status).toBe(200);
  });

  test('are in memory once, as the bytes that are sent', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const { port } = await serveLarge();
    collect();
    const before = process.memoryUsage();
    for (let n = 0; n < 4; n++) await deafCaller(port);
    collect();
    const after = process.memoryUsage();
    expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(4.5 * LARGE);
    expect(after.arrayBuffers - before.arrayBuffers).toBeGreaterThan(3.5 * LARGE);
    expect(after.heapUsed - before.heapUsed).toBeLessThan(LARGE);
  });

  test('leave room for small ones of requests that run already; a large one that has none is thrown away', async () => {
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
    await deafCaller(port);
    expect(budgets.unsent.total).toBeGreaterThan(LARGE);
  });

  test('count to nothing once all were read, in pieces or not', async () => {
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
    const client = await deafCaller(port, get('/large').repeat(3) + get('/small'));
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

  test('are not read any more meanwhile', async () => {
    const { passed, open } = gate();
    const budgets = budgetsOf();
    const { port, server } = await start({
      descriptor: ROUTES,
      settings: { ...SETTINGS, requestsInFlightMax: 1_000_000 },
      budgets,
      handle: async ({ route }) => {
        if (route === 0) return large();
        await passed;
        return ok();
      },
    });
    const client = await deafCaller(port);
    const many = 100_000;
    client.send(get('/small').repeat(many));
    // It takes a part of its response, so that the server writes on.
    client.socket.resume();
    await new Promise<void>((resolve) => {
      client.socket.on('data', () => {
        if (client.socket.bytesRead > 6 * MIB) resolve();
      });
    });
    client.socket.pause();
    await ask(port, get('/large'));
    await ask(port, get('/large'));
    // What the parser was given at once, and one such piece before.
    expect(server.inFlight).toBeLessThan(8_000);
    open();
    client.socket.resume();
    expect((await client.answer()).body).toHaveLength(LARGE);
    for (let n = 0; n < 10; n++) expect((await client.answer()).body).toBe('ok');
  });

  test('that wait are not served when their caller goes', async () => {
    const { port, server, unsent, calls } = await serveLarge();
    const client = await deafCaller(port, get('/large').repeat(5));
    await ask(port, get('/small'));
    client.socket.destroy();
    await expect.poll(() => server.inFlight).toBe(0);
    expect(unsent.total).toBe(0);
    expect(calls()).toBe(2);
  });

  test('beyond those that may be in flight break their connection off, after what was served', async () => {
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
    const last = await client.answer();
    expect(last.status).toBe(503);
    expect(last.headers['retry-after']).toBe('1');
    expect(await client.rest()).toBe('');
    await expect.poll(() => server.inFlight).toBe(0);
  });

  test('that come too late to be answered are few, all connections together', async () => {
    const { passed, open } = gate();
    const { port } = await start({
      descriptor: ROUTES,
      settings: { requestsInFlightMax: 1 },
      handle: async () => {
        await passed;
        return ok();
      },
    });
    const first = new RawClient(port).send(get('/small').repeat(40_000));
    await first.closed();
    open();
    expect((await ask(port, get('/small'))).status).toBe(200);
  });
});

describe('a caller that takes too little of a response', () => {
  const slow = { ...SETTINGS, responseBytesMax: 64 * MIB, responseRateGraceMs: 40 };
  const serveSlow = (responseRateMin: number) =>
    start({
      descriptor: ROUTES,
      settings: { ...slow, responseRateMin, stallTimeoutMs: 600_000 },
      handle: () => ok('x'.repeat(48 * MIB)),
    });

  test('is cut, also one that reads a byte now and then', async () => {
    const { port, server } = await serveSlow(256 * MIB);
    const client = new RawClient(port);
    client.socket.removeAllListeners('data').pause();
    client.send(get('/large'));
    const reads = setInterval(() => client.socket.read(1), 5);
    await expect.poll(() => server.inFlight).toBe(1);
    await expect.poll(() => server.inFlight).toBe(0);
    clearInterval(reads);
  });

  test('is not cut as long as it takes enough', async () => {
    const { port } = await serveSlow(1);
    const client = new RawClient(port).send(get('/large'));
    expect((await client.answer()).body).toHaveLength(48 * MIB);
  });
});
