// RequestRouter: where requests are sent, what it learns of a route and forgets again, and which requests stay.
import { expect, test } from 'vitest';
import type { EndpointRequest, EndpointResponse } from '../../../model/endpoint.ts';
import { RequestRouter } from '../../../host/shards/request-router.ts';
import { ServedRequest } from '../../../host/shards/served-request.ts';
import { HashOwnership, shardOf } from '../../../host/shards/hash-ownership.ts';
import { amplyKept } from '../../support/kept-bytes.ts';

const COMPONENT = 'cart';
const idOf = (shard: number): string => {
  for (let number = 0; ; number++)
    if (shardOf(COMPONENT, `c${number}`, 2) === shard) return `c${number}`;
};
const [HERE, THERE] = [idOf(0), idOf(1)];
const HANDLED: EndpointResponse = {
  kind: 'response',
  status: 200,
  headers: [],
  body: { kind: 'none' },
};

/** A request of a route whose second parameter is the id. */
const request = (id: string, route = 0): EndpointRequest => ({
  route,
  parameters: ['tenant', id],
  query: '',
  headers: [],
  caller: 'internet',
  body: { kind: 'none' },
});

/** Records the shard that each request was sent to; `stray` reports that the last one was sent to the wrong shard. */
function routerUnderTest({ takes = true } = {}) {
  const went: (number | 'here')[] = [];
  let stray: (() => void) | undefined;
  const router = new RequestRouter({
    index: 0,
    ownership: new HashOwnership(2),
    handleHere: () => {
      went.push('here');
      return HANDLED;
    },
    router: {
      request: (owner, _request, _metadata, _waiter, wasMisrouted) => {
        if (!takes) return undefined;
        went.push(owner);
        stray = wasMisrouted;
        return Promise.resolve(HANDLED);
      },
    },
  });
  const asks = (id: string, route = 0) =>
    router.firstCallIsRemote(request(id, route), { component: COMPONENT, id }, undefined);
  return { router, went, asks, stray: () => stray!() };
}

test('requests stay until a handler has asked for the entity of another shard by its id in the path', () => {
  const { router, went, asks } = routerUnderTest();
  void router.handle(request(THERE), []);
  asks(THERE);
  void router.handle(request(THERE), []);
  void router.handle(request(HERE), []);
  void router.handle(request(THERE, 1), []);
  expect(went).toEqual(['here', 1, 'here', 'here']);
});

test('an id that is not in the path teaches nothing', () => {
  const { router, went } = routerUnderTest();
  router.firstCallIsRemote(
    request(THERE),
    { component: COMPONENT, id: `user-${THERE}` },
    undefined,
  );
  void router.handle(request(THERE), []);
  expect(went).toEqual(['here']);
});

test('a request that the other shard does not take is handled here', async () => {
  const { router, went, asks } = routerUnderTest({ takes: false });
  asks(THERE);
  expect(await router.handle(request(THERE), [])).toBe(HANDLED);
  expect(went).toEqual(['here']);
});

test('a route whose request went astray stays here for the next hundred that ask elsewhere', () => {
  const { router, went, asks, stray } = routerUnderTest();
  asks(THERE);
  void router.handle(request(THERE), []);
  stray();
  for (let requests = 0; requests < 100; requests++) {
    void router.handle(request(THERE), []);
    asks(THERE);
  }
  expect(went.splice(0)).toEqual([1, ...Array.from({ length: 100 }, () => 'here')]);
  asks(THERE);
  void router.handle(request(THERE), []);
  expect(went).toEqual([1]);
});

test('a request that was sent here and asks for an entity elsewhere says so, and teaches nothing here', () => {
  const { router, went } = routerUnderTest();
  const served = new ServedRequest(1, amplyKept());
  router.firstCallIsRemote(request(THERE), { component: COMPONENT, id: THERE }, served);
  expect(served.wasMisrouted).toBe(true);
  void router.handle(request(THERE), []);
  expect(went).toEqual(['here']);
});
