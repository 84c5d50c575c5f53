// Orchestrator and routers at a real socket.
import { once } from 'node:events';
import { statSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { RouteClient, type Router } from '../../routing/route-client.ts';
import { RouteServer } from '../../routing/route-server.ts';
import type { RouteTable } from '../../routing/route-table.ts';
import { ROUTING_TIMES, type RoutingTimes } from '../../routing/routing-limits.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { routedService } from './routed-services.ts';

const CART = routedService('shop/cart');

async function orchestrator(
  path = join(temporaryFolder(), 'routes.sock'),
  times: Partial<RoutingTimes> = {},
): Promise<{ readonly server: RouteServer; readonly path: string }> {
  const server = await RouteServer.listen(path, { ...ROUTING_TIMES, ...times });
  onTestFinished(() => server.close());
  return { server, path };
}

function router(path: string, changes: Partial<Router> = {}, times: Partial<RoutingTimes> = {}) {
  const tables: RouteTable[] = [];
  const events: string[] = [];
  const client = new RouteClient(
    path,
    {
      use: (table) => void tables.push(table),
      hold: async (key) => void events.push(`hold ${key}`),
      release: (key) => void events.push(`release ${key}`),
      ...changes,
    },
    { ...ROUTING_TIMES, ...times },
  );
  onTestFinished(() => client.close());
  return { client, tables, events };
}

test('routers have the table, also those that come later, and every change of it', async () => {
  const { server, path } = await orchestrator();
  const first = router(path);
  await vi.waitUntil(() => first.tables.length === 1);
  expect(await server.publish([CART])).toEqual({ missing: [] });
  const second = router(path);
  await vi.waitUntil(() => second.tables.length === 1);
  const web = routedService('shop/web');
  await server.publish([CART, web]);
  await server.publish([web]);
  for (const { tables } of [first, second])
    expect(tables.at(-1)).toEqual({ version: 3, services: [web] });
});

test('a hold is settled when the last request is answered, and released for all', async () => {
  const { server, path } = await orchestrator();
  const answered = Promise.withResolvers<void>();
  const slow = router(path, { hold: () => answered.promise });
  const quick = router(path);
  await vi.waitUntil(() => slow.tables.length + quick.tables.length === 2);
  const settled = vi.fn<() => void>();
  const { settled: promise, release } = server.hold('shop/cart');
  void promise.then(settled);
  await vi.waitUntil(() => quick.events.length === 1);
  expect(settled).not.toHaveBeenCalled();
  answered.resolve();
  expect(await promise).toEqual({ missing: [] });
  release();
  await vi.waitUntil(() => quick.events.at(-1) === 'release shop/cart');
});

test('a table is settled when the last request at an instance that has left is answered', async () => {
  const { server, path } = await orchestrator();
  const answered = Promise.withResolvers<void>();
  const { tables } = router(path, {
    left: () => (tables.length === 1 ? undefined : answered.promise),
  });
  await vi.waitUntil(() => tables.length === 1);
  const settled = vi.fn<() => void>();
  const published = server.publish([CART]).then(settled);
  await vi.waitUntil(() => tables.length === 2);
  // What is acknowledged at once is settled before this.
  await server.hold('shop/cart').settled;
  expect(settled).not.toHaveBeenCalled();
  answered.resolve();
  await published;
});

test('a table is settled without the answer of a request that takes long, and the router stays connected', async () => {
  const { server, path } = await orchestrator();
  const isConnected: boolean[] = [];
  const { tables } = router(
    path,
    { left: () => new Promise(() => undefined), connected: (is) => void isConnected.push(is) },
    { leaveMs: 50 },
  );
  await vi.waitUntil(() => tables.length === 1);
  expect(await server.publish([CART])).toEqual({ missing: [] });
  expect(isConnected).toEqual([true]);
});

test('a router that hangs is not waited for longer than its time, and loses its connection', async () => {
  const { server, path } = await orchestrator(undefined, { acknowledgeMs: 50 });
  const isConnected: boolean[] = [];
  const { tables } = router(path, {
    hold: () => new Promise(() => undefined),
    connected: (is) => void isConnected.push(is),
  });
  await vi.waitUntil(() => tables.length === 1);
  const { missing } = await server.hold('shop/cart').settled;
  expect(missing).toHaveLength(1);
  await vi.waitUntil(() => isConnected.length === 3);
  expect(isConnected).toEqual([true, false, true]);
});

test('a hold ends by itself if the orchestrator is gone', async () => {
  const { server, path } = await orchestrator();
  const { events, tables } = router(path, {}, { holdMs: 50 });
  await vi.waitUntil(() => tables.length === 1);
  await server.hold('shop/cart').settled;
  await server.close();
  await vi.waitUntil(() => events.length === 2);
  expect(events).toEqual(['hold shop/cart', 'release shop/cart']);
});

test('a router follows an orchestrator that has started again, and what it held is released', async () => {
  const { server, path } = await orchestrator();
  const { events, tables } = router(path);
  await vi.waitUntil(() => tables.length === 1);
  await server.publish([CART]);
  await server.hold('shop/cart').settled;
  await server.close();
  const { server: next } = await orchestrator(path);
  await vi.waitUntil(() => next.routers === 1);
  await next.publish([routedService('shop/web')]);
  expect(tables.at(-1)?.services[0]?.key).toBe('shop/web');
  expect(events).toEqual(['hold shop/cart', 'release shop/cart']);
});

test('the time of a hold begins anew with an orchestrator that takes the hold up again', async () => {
  const { server, path } = await orchestrator();
  const { events, tables } = router(path, {}, { holdMs: 600, reconnectMs: [1, 1] });
  await vi.waitUntil(() => tables.length === 1);
  await server.hold('shop/cart').settled;
  const startedMs = performance.now();
  await vi.waitUntil(() => performance.now() - startedMs > 300);
  await server.close();
  // Its first hold has the number of the first one of the other orchestrator.
  const next = (await orchestrator(path)).server;
  void next.hold('shop/cart');
  await vi.waitUntil(() => events.length === 2);
  const againMs = performance.now();
  await vi.waitUntil(() => events.length === 3, 10_000);
  expect(events).toEqual(['hold shop/cart', 'hold shop/cart', 'release shop/cart']);
  expect(performance.now() - againMs).toBeGreaterThan(550);
});

test('the socket is for its user only, replaces one of a process that has ended, and no other', async () => {
  const path = join(temporaryFolder(), 'routes.sock');
  writeFileSync(path, '');
  const { server } = await orchestrator(path);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  await expect(RouteServer.listen(path)).rejects.toMatchObject({ code: 'EADDRINUSE' });
  expect(await server.publish([CART])).toEqual({ missing: [] });
});

test('services that break the rules are not published', async () => {
  const { server } = await orchestrator();
  expect(() => server.publish([CART, CART])).toThrow(/has shop\/cart twice/);
});

async function stranger(path: string, text: string): Promise<Socket> {
  const socket = connect(path);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(text);
  return socket.resume();
}

test.each([
  ['no JSON', 'hello\n'],
  ['another protocol', '{"type":"hello","protocol":2,"name":"a"}\n'],
  ['a name with a blank', '{"type":"hello","protocol":1,"name":"a b"}\n'],
  ['an acknowledgement before its name', '{"type":"applied","version":0}\n'],
  ['a line without an end', 'x'.repeat(2000)],
  ['a message of the orchestrator', '{"type":"release","id":1}\n'],
])('%s costs the connection, and no other router notices', async (_what, text) => {
  const { server, path } = await orchestrator();
  const { tables } = router(path);
  await vi.waitUntil(() => tables.length === 1);
  await once(await stranger(path, text), 'close');
  expect(await server.publish([CART])).toEqual({ missing: [] });
  expect(tables).toHaveLength(2);
});

test('a connection that does not name itself is ended', async () => {
  const { path } = await orchestrator(undefined, { helloMs: 20 });
  const [hadError] = (await once(await stranger(path, ''), 'close')) as [boolean];
  expect(hadError).toBe(false);
});
