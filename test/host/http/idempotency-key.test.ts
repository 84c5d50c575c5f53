// The header Idempotency-Key, and the keys of a handler's calls that follow from it.
import { describe, expect, test } from 'vitest';
import type { EndpointRequest } from '../../../model/endpoint.ts';
import { descriptorOf, ok, start } from './http-harness.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

async function startWitness() {
  const seen: EndpointRequest[] = [];
  const routes = METHODS.flatMap((method) =>
    ['/a', '/b/{id}'].map((path) => [method, path] as const),
  );
  const running = await start({
    descriptor: descriptorOf(routes),
    handle: (request) => {
      seen.push(request);
      return ok();
    },
  });
  const send = (method: string, path: string, key: string | undefined) =>
    fetch(running.url + path, {
      method,
      headers: key === undefined ? {} : { 'idempotency-key': key },
    });
  return { ...running, seen, send };
}

describe('a request with the header Idempotency-Key', () => {
  test('has a key of it, its caller and its route, whatever else it says', async () => {
    const { send, seen } = await startWitness();
    await send('POST', '/b/1', 'k');
    await send('POST', '/b/2?x', 'k');
    await send('POST', '/b/1', 'other');
    await send('PUT', '/b/1', 'k');
    await send('POST', '/a', 'k');
    const keys = seen.map(({ idempotencyKey }) => idempotencyKey);
    expect(keys[0]).toMatch(/^k\/[0-9a-f]{16}$/);
    expect(keys[1]).toBe(keys[0]);
    expect(keys[2]).toMatch(/^other\//);
    expect(new Set(keys).size).toBe(4);
    expect(seen[0]?.headers).toContainEqual(['idempotency-key', 'k']);
  });

  test.each(METHODS)('counts unless it changes nothing: %s', async (method) => {
    const { send, seen } = await startWitness();
    expect((await send(method, '/a', 'k')).status).toBe(200);
    expect(seen[0]?.idempotencyKey === undefined).toBe(method === 'GET');
  });

  test('and one without has none', async () => {
    const { send, seen } = await startWitness();
    await send('POST', '/a', undefined);
    expect(seen[0]?.idempotencyKey).toBeUndefined();
  });

  test.each([
    ['is empty', ''],
    ['has a space', 'a b'],
    ['came twice', 'a, b'],
    ['is too long', 'k'.repeat(256)],
    ['has 10 kB', 'k'.repeat(10_000)],
  ])('that %s is answered 400, and the handler does not run', async (_what, key) => {
    const { send, seen } = await startWitness();
    const answer = await send('POST', '/a', key);
    expect([answer.status, await answer.text()]).toEqual([
      400,
      expect.stringContaining('SVC_IDEMPOTENCY_KEY_INVALID'),
    ]);
    expect(seen).toEqual([]);
    expect((await send('GET', '/a', key)).status).toBe(200);
  });

  test('of as many characters as may be is taken', async () => {
    const { send, seen } = await startWitness();
    expect((await send('POST', '/a', 'k'.repeat(255))).status).toBe(200);
    expect(seen).toHaveLength(1);
  });
});
