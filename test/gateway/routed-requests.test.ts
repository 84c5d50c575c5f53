// Where the requests of a hostname go: states, the choice of an instance, and holds with their bounds.
import { expect, test, vi } from 'vitest';
import {
  type Routed,
  RoutedRequests,
  type RoutedToInstance,
  type Routing,
} from '../../gateway/routed-requests.ts';
import { routedService } from '../routing/routed-services.ts';

const HOST = 'cart-shop.svc.test';
const LIMITS = { heldMax: 5, heldOfServiceMax: 3, heldMs: 10_000 };
const TWO = ['a', 'b'].map((name, index) => ({ name, address: '127.0.0.1', port: 9000 + index }));

function to(hostname: string, ...tried: readonly string[]): Routing {
  return { hostname, tried: new Set(tried) };
}

function routes(changes: Parameters<typeof routedService>[1] = {}, limits = LIMITS) {
  const requests = new RoutedRequests(limits);
  requests.use({ version: 1, services: [routedService('shop/cart', changes)] });
  return requests;
}

function ask(requests: RoutedRequests, host = HOST): Routed {
  const routed = vi.fn<(to: Routed) => void>();
  requests.route(to(host), routed);
  return routed.mock.calls[0]![0];
}

test('a request that goes nowhere says why', () => {
  expect(ask(new RoutedRequests(LIMITS)).kind).toBe('no-routes');
  expect(ask(routes(), 'other.svc.test').kind).toBe('not-exposed');
  expect(ask(routes({ state: 'paused' })).kind).toBe('paused');
  expect(ask(routes({ state: 'suspended' })).kind).toBe('suspended');
  expect(ask(routes({ instances: [] })).kind).toBe('none-ready');
});

test('the instance with the fewest requests in flight gets the next one, in turn among equals', () => {
  const requests = routes({ instances: TWO });
  const next = () => ask(requests) as Extract<Routed, { kind: 'instance' }>;
  const [first, second] = [next(), next()];
  expect([first, second].map(({ instance }) => instance.name).toSorted()).toEqual(['a', 'b']);
  first.end();
  first.end();
  expect([next(), next(), next()].map(({ instance }) => instance.name)[0]).toBe(
    first.instance.name,
  );
});

test('an instance that was tried is passed over, and when all were tried none is left', () => {
  const requests = routes({ instances: TWO });
  const route = (...tried: readonly string[]): Routed => {
    const routed = vi.fn<(to: Routed) => void>();
    requests.route(to(HOST, ...tried), routed);
    return routed.mock.calls[0]![0];
  };
  for (let count = 0; count < 3; count++)
    expect(route('a')).toMatchObject({ kind: 'instance', instance: { name: 'b' } });
  expect(route('a', 'b')).toEqual({ kind: 'none-left' });
});

test('a hold is acknowledged when the last request is answered, and held requests then go by the new table', async () => {
  const requests = routes({ instances: [TWO[0]!] });
  const inFlight = ask(requests) as Extract<Routed, { kind: 'instance' }>;
  const acknowledged = vi.fn<() => void>();
  const hold = requests.hold('shop/cart').then(acknowledged);
  const routed = vi.fn<(to: Routed) => void>();
  requests.route(to(HOST), routed);
  await Promise.resolve();
  expect(acknowledged).not.toHaveBeenCalled();
  inFlight.end();
  await hold;
  expect(routed).not.toHaveBeenCalled();
  requests.use({ version: 2, services: [routedService('shop/cart', { instances: [TWO[1]!] })] });
  requests.release('shop/cart');
  expect(routed.mock.calls).toMatchObject([[{ kind: 'instance', instance: { name: 'b' } }]]);
});

test('an instance that leaves the table is left when its last request is answered', async () => {
  const requests = routes({ instances: TWO });
  const begun = [ask(requests), ask(requests), ask(requests)] as RoutedToInstance[];
  expect(requests.left()).toBe(undefined);
  requests.use({ version: 2, services: [routedService('shop/cart', { instances: [TWO[1]!] })] });
  const left = vi.fn<() => void>();
  const leaving = requests.left()!.then(left);
  // Those of the other instance are not waited for.
  const [last, ...others] = begun.filter(({ instance }) => instance.name === 'a');
  for (const { end } of others) end();
  await Promise.resolve();
  expect(left).not.toHaveBeenCalled();
  last!.end();
  await leaving;
  expect(requests.left()).toBe(undefined);
});

test('held requests have a bound for each service, and one for all, and a client that goes makes room', () => {
  const requests = new RoutedRequests(LIMITS);
  const keys = ['shop/cart', 'shop/web'];
  requests.use({ version: 1, services: keys.map((key) => routedService(key)) });
  for (const key of keys) void requests.hold(key);
  const forget = [1, 2, 3].map(() => requests.route(to(HOST), () => undefined));
  expect(ask(requests).kind).toBe('too-many-held');
  const web = 'web-shop.svc.test';
  for (let count = 0; count < 2; count++) requests.route(to(web), () => undefined);
  expect(ask(requests, web).kind).toBe('too-many-held');
  forget[0]!();
  forget[0]!();
  const routed = vi.fn<(to: Routed) => void>();
  requests.route(to(web), routed);
  expect(routed).not.toHaveBeenCalled();
  for (const key of keys) requests.release(key);
  expect(routed).toHaveBeenCalledOnce();
});

test('a request that is released while no instance is ready is answered as one that was held for too long', () => {
  const requests = routes({ instances: [] });
  void requests.hold('shop/cart');
  const routed = vi.fn<(to: Routed) => void>();
  requests.route(to(HOST), routed);
  requests.release('shop/cart');
  expect(routed.mock.calls).toEqual([[{ kind: 'held-too-long' }]]);
});

test('a request is not held longer than its time', async () => {
  const requests = routes({}, { ...LIMITS, heldMs: 5 });
  void requests.hold('shop/cart');
  const routed = Promise.withResolvers<Routed>();
  requests.route(to(HOST), routed.resolve);
  expect(await routed.promise).toEqual({ kind: 'held-too-long' });
});
