// The budget for the bodies of all requests that are being read or handled.
import { describe, expect, test } from 'vitest';
import { HTTP_SETTINGS_DEFAULT } from '../../../host/http/http-settings.ts';
import { requestBudgets } from '../../../model/request-budgets.ts';
import {
  BYTES_BODY,
  descriptorOf,
  gate,
  get,
  ok,
  RawClient,
  start,
  TEXT_BODY,
} from './http-harness.ts';

const KIB = 1024;
const ROUTES = descriptorOf([
  ['POST', '/bytes', BYTES_BODY],
  ['POST', '/text', TEXT_BODY],
  ['GET', '/none'],
]);
const SETTINGS = { bodyBytesMax: 64 * KIB, bodyBytesTotalMax: 128 * KIB };

async function serve(handled: Promise<void> = Promise.resolve()) {
  const budgets = requestBudgets({ ...HTTP_SETTINGS_DEFAULT, ...SETTINGS });
  let calls = 0;
  const running = await start({
    descriptor: ROUTES,
    settings: SETTINGS,
    budgets,
    handle: async () => {
      calls += 1;
      await handled;
      return ok();
    },
  });
  return { ...running, bodies: budgets.bodies, calls: () => calls };
}

const head = (path: string, length: number) =>
  `POST ${path} HTTP/1.1\r\nhost: t\r\ncontent-type: text/plain\r\ncontent-length: ${length}\r\n\r\n`;

describe('bodies of requests', () => {
  test('have a bound together: beyond it a request is 503 with Retry-After, and its handler does not run', async () => {
    const { port, bodies, calls } = await serve();
    const slow = [new RawClient(port), new RawClient(port)];
    for (const client of slow) client.send(head('/bytes', 60 * KIB) + 'x'.repeat(50 * KIB));
    await expect.poll(() => bodies.total).toBeGreaterThanOrEqual(100 * KIB);
    const late = new RawClient(port).send(head('/bytes', 40 * KIB) + 'y'.repeat(40 * KIB));
    const answer = await late.answer();
    expect(answer.status).toBe(503);
    expect(answer.headers['retry-after']).toBe('1');
    expect(answer.body).toContain('SVC_OVERLOADED');
    expect(calls()).toBe(0);
    expect(bodies.total).toBeLessThanOrEqual(SETTINGS.bodyBytesTotalMax);
    // The request's body was discarded, and the connection serves the next request.
    expect((await late.send(get('/none')).answer()).status).toBe(200);
    for (const client of slow) client.send('x'.repeat(10 * KIB));
    for (const client of slow) expect((await client.answer()).status).toBe(200);
    await expect.poll(() => bodies.total).toBe(0);
  });

  test('of which one says no length close its connection when it has no room', async () => {
    const { port, bodies } = await serve();
    bodies.add(100 * KIB);
    const client = new RawClient(port).send(
      'POST /bytes HTTP/1.1\r\nhost: t\r\ntransfer-encoding: chunked\r\n\r\n' +
        `${(40 * KIB).toString(16)}\r\n${'z'.repeat(40 * KIB)}\r\n`,
    );
    const answer = await client.answer();
    expect(answer.status).toBe(503);
    expect(answer.headers['connection']).toBe('close');
  });

  test('count until their handlers are done, and small ones always have room', async () => {
    const { passed, open } = gate();
    const { port, bodies } = await serve(passed);
    const first = new RawClient(port).send(head('/bytes', 60 * KIB) + 'x'.repeat(60 * KIB));
    await expect.poll(() => bodies.total).toBeGreaterThanOrEqual(60 * KIB);
    bodies.add(SETTINGS.bodyBytesTotalMax);
    const small = new RawClient(port).send(head('/bytes', 1_000) + 'x'.repeat(1_000));
    await expect.poll(() => bodies.total).toBeGreaterThanOrEqual(189 * KIB - 24);
    open();
    expect((await first.answer()).status).toBe(200);
    expect((await small.answer()).status).toBe(200);
    await expect.poll(() => bodies.total).toBe(SETTINGS.bodyBytesTotalMax);
  });

  test('count as what their texts take in memory', async () => {
    const { passed, open } = gate();
    const { port, bodies } = await serve(passed);
    const text = `€${'x'.repeat(40 * KIB)}`;
    const bytes = Buffer.from(text).toString('latin1');
    const client = new RawClient(port).send(head('/text', bytes.length) + bytes);
    await expect.poll(() => bodies.total).toBe(2 * text.length);
    open();
    expect((await client.answer()).status).toBe(200);
    await expect.poll(() => bodies.total).toBe(0);
  });

  test('that come a byte at a time take no more than twice their bytes', async () => {
    const { passed, open } = gate();
    const { port, bodies } = await serve(passed);
    const client = new RawClient(port).send(
      'POST /bytes HTTP/1.1\r\nhost: t\r\ntransfer-encoding: chunked\r\n\r\n' +
        `${'1\r\nx\r\n'.repeat(30 * KIB)}0\r\n\r\n`,
    );
    await expect.poll(() => bodies.total).toBeGreaterThanOrEqual(30 * KIB);
    expect(bodies.total).toBeLessThanOrEqual(60 * KIB);
    open();
    expect((await client.answer()).status).toBe(200);
  });

  test('release their bytes when their callers disconnect', async () => {
    const { port, bodies } = await serve();
    const client = new RawClient(port).send(head('/bytes', 60 * KIB) + 'x'.repeat(50 * KIB));
    await expect.poll(() => bodies.total).toBeGreaterThanOrEqual(50 * KIB);
    client.socket.destroy();
    await expect.poll(() => bodies.total).toBe(0);
  });
});
