// The routes of this machine's services at a real socket: what routers get, when something counts as acknowledged, and what lies on disk.
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { PublishedRoutes } from '../../../control-plane/local/published-routes.ts';
import type { ServiceRoute } from '../../../control-plane/local/request-routes.ts';
import type { Log } from '../../../kit/log.ts';
import { RouteClient, type Router } from '../../../routing/route-client.ts';
import { readRouteFile, writeRouteFile } from '../../../routing/route-file.ts';
import type { RoutedService, RouteTable } from '../../../routing/route-table.ts';
import { ROUTING_TIMES } from '../../../routing/routing-limits.ts';
import { routedService } from '../../routing/routed-services.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const CART = { project: 'shop', service: 'cart' };
const WEB = { project: 'shop', service: 'web' };
const ONE = { name: 'cart-1-a', address: '127.83.0.2', port: 9000 };
const acknowledged = vi.fn();
const TWO = { name: 'cart-2-b', address: '127.83.0.3', port: 9000 };

function serving(changes: Partial<ServiceRoute> = {}): ServiceRoute {
  return { state: 'serving', hostnames: ['cart-shop.svc.test'], instances: [ONE], ...changes };
}

interface Opened {
  readonly routes: PublishedRoutes;
  readonly socket: string;
  readonly file: string;
  readonly log: ReturnType<typeof vi.fn<Log>>;
}

async function open(
  changes: {
    readonly folder?: string;
    readonly file?: string;
    readonly known?: readonly string[];
    readonly gatherMs?: number;
    readonly holdMs?: number;
    readonly removalMs?: number;
  } = {},
): Promise<Opened> {
  const { folder = temporaryFolder(), known = [], gatherMs = 0, removalMs = 5000 } = changes;
  const { file = join(folder, 'routes.json') } = changes;
  const socket = join(folder, 'routes.sock');
  const log = vi.fn<Log>();
  const routes = await PublishedRoutes.open({
    socket,
    file,
    trustDomain: 'svc.test',
    section: { routersGatherMs: gatherMs, routesRetryMs: 20, removalMs },
    known: new Set(known),
    log,
    times: { ...ROUTING_TIMES, acknowledgeMs: 500, leaveMs: 0, holdMs: changes.holdMs ?? 15_000 },
  });
  onTestFinished(() => routes[Symbol.asyncDispose]());
  return { routes, socket, file, log };
}

function router(socket: string, changes: Partial<Router> = {}) {
  const events: (string | readonly RoutedService[])[] = [];
  let lastTable = '';
  const client = new RouteClient(socket, {
    // The same table comes once more when routers have had time to connect.
    use: ({ services }) => {
      const text = JSON.stringify(services);
      if (text !== lastTable) events.push(services);
      lastTable = text;
    },
    hold: async (key) => void events.push(`hold ${key}`),
    release: (key) => void events.push(`release ${key}`),
    ...changes,
  });
  onTestFinished(() => client.close());
  return { client, events };
}

test('a router gets state, identity, hostnames and instances of each service, and every change', async () => {
  const { routes, socket } = await open();
  routes.route(CART, serving());
  await routes.listen();
  const { events } = router(socket);
  await vi.waitUntil(() => events.length === 1, 10_000);
  expect(events[0]).toEqual([routedService('shop/cart', { instances: [ONE] })]);
  routes.route(CART, serving({ state: 'paused', instances: [] }));
  routes.route(WEB, serving({ hostnames: [], instances: [] }));
  await vi.waitUntil(() => events.length === 2, 10_000);
  expect(events[1]).toMatchObject([
    { key: 'shop/cart', state: 'paused' },
    { key: 'shop/web', hostnames: [] },
  ]);
  routes.withdraw(CART);
  await vi.waitUntil(() => events.length === 3, 10_000);
  expect(events[2]).toMatchObject([{ key: 'shop/web' }]);
});

test('a release comes after the route that it releases to', async () => {
  const { routes, socket } = await open();
  routes.route(CART, serving());
  await routes.listen();
  const { events } = router(socket);
  await vi.waitUntil(() => events.length === 1, 10_000);
  routes.hold(CART, acknowledged);
  expect(routes.holdOf(CART)).toBe('asked');
  await vi.waitUntil(() => routes.holdOf(CART) === 'acknowledged', 10_000);
  routes.route(CART, serving({ instances: [TWO] }));
  routes.release(CART);
  expect(routes.holdOf(CART)).toBe('none');
  await vi.waitUntil(() => events.length === 4, 10_000);
  expect(events.slice(1)).toEqual([
    'hold shop/cart',
    [routedService('shop/cart', { instances: [TWO] })],
    'release shop/cart',
  ]);
});

test('a hold is not acknowledged while a request is under way, until its time is up, and then the log says so', async () => {
  const { routes, socket, log } = await open();
  routes.route(CART, serving());
  await routes.listen();
  const { events } = router(socket, { hold: () => new Promise(() => {}) });
  await vi.waitUntil(() => events.length === 1, 10_000);
  const startedMs = performance.now();
  routes.hold(CART, acknowledged);
  await vi.waitUntil(() => routes.holdOf(CART) === 'acknowledged', 10_000);
  expect(performance.now() - startedMs).toBeGreaterThan(490);
  expect(log.mock.calls.map(([{ message }]) => message)).toEqual([
    'Routers have not acknowledged in time that requests of a service are held',
  ]);
});

test('an instance is used until no router has it in its table', async () => {
  const { routes, socket } = await open();
  routes.route(CART, serving({ instances: [ONE, TWO] }));
  expect(routes.isUnused(CART, ONE.name)).toBe(false);
  await routes.listen();
  const seen = Promise.withResolvers<void>();
  router(socket, { use: () => seen.resolve() });
  await seen.promise;
  expect(routes.isUnused(CART, ONE.name)).toBe(false);
  routes.route(CART, serving({ instances: [TWO] }));
  expect(routes.isUnused(CART, ONE.name)).toBe(false);
  await vi.waitUntil(() => routes.isUnused(CART, ONE.name), 10_000);
  expect(routes.isUnused(CART, TWO.name)).toBe(false);
});

test('an instance that a router does not acknowledge to have dropped is used for a while', async () => {
  const { routes, socket } = await open({ removalMs: 1200 });
  routes.route(CART, serving({ instances: [ONE, TWO] }));
  await routes.listen();
  // A router that says its name, and nothing else.
  const silent = connect(socket, () =>
    silent.write('{"type":"hello","protocol":1,"name":"silent"}\n'),
  );
  onTestFinished(() => void silent.destroy());
  await once(silent, 'data');
  const startedMs = performance.now();
  routes.route(CART, serving({ instances: [TWO] }));
  await vi.waitUntil(() => routes.isUnused(CART, ONE.name), 10_000);
  // It would count as dropped after 0.5 s, when the connection of the router is cut.
  expect(performance.now() - startedMs).toBeGreaterThan(1190);
});

test('after a start a service that was not looked at keeps its route, and one that does not exist has none', async () => {
  const folder = temporaryFolder();
  const before: RouteTable = {
    version: 7,
    services: [routedService('shop/cart'), routedService('shop/web'), routedService('shop/gone')],
  };
  await writeRouteFile(join(folder, 'routes.json'), before);
  const { routes, socket } = await open({ folder, known: ['shop/cart', 'shop/web'] });
  routes.route(CART, serving({ instances: [TWO] }));
  await routes.listen();
  const { events } = router(socket);
  await vi.waitUntil(() => events.length === 1, 10_000);
  expect(events[0]).toEqual([
    routedService('shop/web'),
    routedService('shop/cart', { instances: [TWO] }),
  ]);
});

test('a router that connects again after a start is waited for', async () => {
  const { routes, socket } = await open({ gatherMs: 300 });
  routes.route(CART, serving());
  // Such as in the first look, before anything listens.
  routes.hold(CART, acknowledged);
  await routes.listen();
  const answered = Promise.withResolvers<void>();
  const hold = vi.fn<() => Promise<void>>(() => answered.promise);
  const late = router(socket, { hold });
  // Once for its snapshot, and once more when the time has passed in which routers connect again.
  await vi.waitUntil(() => hold.mock.calls.length === 2, 10_000);
  expect(routes.holdOf(CART)).toBe('asked');
  answered.resolve();
  await vi.waitUntil(() => routes.holdOf(CART) === 'acknowledged', 10_000);
  routes.release(CART);
  await vi.waitUntil(() => late.events.includes('release shop/cart'), 10_000);
});

test('a hold that routers may have ended is none', async () => {
  const { routes } = await open({ holdMs: 1050 });
  await routes.listen();
  // It is acknowledged for a moment only, which a look now and then would miss.
  const held: string[] = [];
  routes.hold(CART, () => held.push(routes.holdOf(CART)));
  await vi.waitUntil(() => held.length > 0, 10_000);
  expect(held[0]).toBe('acknowledged');
  await vi.waitUntil(() => routes.holdOf(CART) === 'none', 10_000);
  expect(routes.holdOf(CART)).toBe('none');
});

test('a hostname that passes to another service leads to the one that has it now', async () => {
  const { routes, socket } = await open();
  routes.route(CART, serving({ hostnames: ['shop.example.com'] }));
  routes.route(WEB, serving({ hostnames: ['shop.example.com'] }));
  await routes.listen();
  const { events } = router(socket);
  await vi.waitUntil(() => events.length === 1, 10_000);
  expect(events[0]).toMatchObject([
    { key: 'shop/cart', hostnames: [] },
    { key: 'shop/web', hostnames: ['shop.example.com'] },
  ]);
});

test('a route that breaks a rule of the table takes no other one down', async () => {
  const { routes, socket, log } = await open();
  routes.route(CART, serving());
  routes.route(WEB, serving({ hostnames: ['no hostname'] }));
  await routes.listen();
  const { events } = router(socket);
  await vi.waitUntil(() => events.length === 1, 10_000);
  expect(events[0]).toMatchObject([{ key: 'shop/cart' }]);
  expect(log.mock.calls.map(([{ message }]) => message)).toEqual([
    'The route of a service cannot be published',
  ]);
});

test('the table lies on disk, and is written again after a failure', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'later', 'routes.json');
  const { routes, log } = await open({ folder, file });
  routes.route(CART, serving());
  await routes.listen();
  await vi.waitUntil(() => log.mock.calls.length > 0, 10_000);
  mkdirSync(join(folder, 'later'));
  const onDisk = async () => {
    const table = await readRouteFile(file);
    return 'problem' in table ? table.problem : table.services.map(({ key }) => key);
  };
  await expect.poll(onDisk).toEqual(['shop/cart']);
  routes.route(WEB, serving({ hostnames: [] }));
  await expect.poll(onDisk).toEqual(['shop/cart', 'shop/web']);
  expect(log.mock.calls.map(([{ message }]) => message)).toEqual([
    'The file of routes cannot be written',
  ]);
});
