// What every hosting has to keep, told with the shopping cart: the same component in AssemblyScript,
// in TypeScript or behind a socket gives the same answers. Each hosting runs this suite with its cart.
import { describe, expect, onTestFinished, test } from 'vitest';
import type { EngineLimits } from '../../host/engine/engine-limits.ts';
import { createEngine } from '../../host/engine/entity-engine.ts';
import type { Guest, GuestEntity, HostCalls } from '../../model/guest.ts';
import type { CallContext, Effect, Refusal, Reply } from '../../model/call.ts';
import type { EndpointRequest } from '../../model/endpoint.ts';
import type { StoredEvent } from '../../model/entity.ts';
import { MemoryJournal } from '../../host/storage/memory/memory-journal.ts';
import { systemEventLoop, systemDigest } from '../../host/system.ts';
import { WITHOUT_TIMERS } from '../support/without-timers.ts';

export const context: CallContext = {
  nowMs: 1_700_000_000_000,
  seed: 7n,
  metadata: [['traceparent', '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01']],
};
const added = (sku: string, quantity: number): StoredEvent => ({
  manifest: 'cart-event',
  json: JSON.stringify({ type: 'item-added', sku, quantity }),
});
const checkedOut: StoredEvent = { manifest: 'cart-event', json: '{"type":"checked-out"}' };

const open = async (from: Guest, id: string, snapshot?: string): Promise<GuestEntity> =>
  from.entities.open({ component: 'shopping-cart', id }, snapshot);
const cart = async (entity: GuestEntity): Promise<unknown> =>
  parsed(await entity.query(context, 'get', 'null'));

export const routeOf = ({ descriptor }: Guest, method: string, path: string): number =>
  descriptor.endpoints
    .flatMap(({ prefix, routes }) =>
      routes.map((route) => `${route.method} ${prefix}${route.path}`),
    )
    .indexOf(`${method} ${path}`);
export const request = (route: number, other: Partial<EndpointRequest> = {}): EndpointRequest => ({
  route,
  parameters: ['c1'],
  query: '',
  headers: [],
  caller: 'local',
  body: { kind: 'none' },
  ...other,
});
export const answering = (answer: Reply | Refusal, made: unknown[] = []): HostCalls => ({
  nowMs: () => context.nowMs,
  call: (...call) => {
    made.push(call);
    return made.length % 2 === 0 ? Promise.resolve(answer) : answer;
  },
  ...WITHOUT_TIMERS,
  readEvents: () => [],
});
type OpenCart = () => Promise<Guest>;

/** `openCart` gives a fresh guest that serves the shopping cart of fixtures/. */
export function hostingSuite(hosting: string, openCart: OpenCart): void {
  entitySuite(hosting, openCart);
  endpointSuite(hosting, openCart);
}

export async function opened(openCart: OpenCart): Promise<Guest> {
  const cartGuest = await openCart();
  onTestFinished(async () => cartGuest.close());
  return cartGuest;
}

/** The part of the suite for a hosting that serves no requests. */
export function entitySuite(hosting: string, openCart: OpenCart): void {
  const guest = () => opened(openCart);
  describe(`${hosting}: an entity`, () => {
    test('begins in its empty state, which knows its id', async () => {
      const entity = await open(await guest(), 'c1');
      expect(await cart(entity)).toEqual({ id: 'c1', items: [], checkedOut: false });
    });

    test('decides on a command with an effect in stored form, and leaves the state as it is', async () => {
      const entity = await open(await guest(), 'c1');
      const effect = await entity.command(context, 'add-item', '{"sku":"a","quantity":2}');
      expect(effect).toEqual({
        kind: 'effect',
        events: [added('a', 2)],
        actions: [],
        reply: '{"id":"c1","items":[{"sku":"a","quantity":2}],"checkedOut":false}',
      });
      expect(await cart(entity)).toMatchObject({ items: [] });
    });

    test('folds events in order, and in one batch as one by one', async () => {
      const events = [added('a', 2), added('b', 1), added('a', 3), checkedOut];
      const from = await guest();
      const [batch, single] = [await open(from, 'c1'), await open(from, 'c1')];
      expect(await batch.apply(events, undefined)).toBeUndefined();
      for (const event of events) expect(await single.apply([event], undefined)).toBeUndefined();
      const items = [
        { sku: 'a', quantity: 5 },
        { sku: 'b', quantity: 1 },
      ];
      expect(await cart(batch)).toEqual({ id: 'c1', items, checkedOut: true });
      expect(await cart(single)).toEqual(await cart(batch));
    });

    test.each([
      ['of an unknown case', { manifest: 'cart-event', json: '{"type":"exploded"}' }],
      [
        'of a wrong type',
        { manifest: 'cart-event', json: '{"type":"item-added","sku":1,"quantity":1}' },
      ],
      ['that is cut off', { manifest: 'cart-event', json: '{"type":"item-added","sku":"a"' }],
      ['of another manifest', { manifest: 'order-event', json: '{"type":"checked-out"}' }],
    ])('names an event %s instead of folding it', async (_what, event) => {
      const entity = await open(await guest(), 'c1');
      expect(await entity.apply([event], undefined)).toEqual(expect.any(String));
    });

    test('refuses on purpose with code and message', async () => {
      const entity = await open(await guest(), 'c1');
      await entity.apply([added('a', 1), checkedOut], undefined);
      expect(await entity.command(context, 'add-item', '{"sku":"b","quantity":1}')).toMatchObject({
        kind: 'refusal',
        code: 'CONFLICT',
        message: 'the cart is checked out',
      });
      expect(await entity.query(context, 'item', '{"sku":"none"}')).toMatchObject({
        kind: 'refusal',
        code: 'NOT_FOUND',
      });
    });

    test.each([
      ['{"sku":"a","quantity":2.5}', 'quantity'],
      ['{"sku":"a","quantity":99999999999}', 'quantity'],
      ['{"sku":"a"}', 'quantity'],
      ['{"sku":null,"quantity":1}', 'sku'],
      ['{"sku":"a","quantity":1', ''],
      ['', ''],
    ])('refuses an input that does not decode, with its path: %s', async (input, path) => {
      const entity = await open(await guest(), 'c1');
      const refused = await entity.command(context, 'add-item', input);
      expect(refused).toMatchObject({
        code: 'BAD_REQUEST',
        message: expect.stringContaining(path),
      });
      expect(entity.lost).toBe(false);
    });

    test('refuses a command and a query that it does not have', async () => {
      const entity = await open(await guest(), 'c1');
      expect(await entity.command(context, 'explode', 'null')).toMatchObject({ code: 'NOT_FOUND' });
      expect(await entity.query(context, 'explode', 'null')).toMatchObject({ code: 'NOT_FOUND' });
    });

    test('asks for its deletion after its last event', async () => {
      const entity = await open(await guest(), 'c1');
      expect(await entity.command(context, 'remove', 'null')).toMatchObject({
        events: [{ manifest: 'cart-event', json: '{"type":"removed"}' }],
        actions: [{ kind: 'delete-entity' }],
      });
    });

    test('comes back from its snapshot as it was', async () => {
      const from = await guest();
      const entity = await open(from, 'c1');
      await entity.apply([added('ä 漢 🎉', 2)], undefined);
      const again = await open(from, 'c1', await entity.snapshot());
      expect(await cart(again)).toEqual(await cart(entity));
    });

    test('shares nothing with another one', async () => {
      const from = await guest();
      const [one, two] = [await open(from, 'one'), await open(from, 'two')];
      await one.apply([added('a', 1)], undefined);
      expect(await cart(two)).toEqual({ id: 'two', items: [], checkedOut: false });
      one.close();
      expect(await cart(two)).toMatchObject({ id: 'two' });
    });
  });

  test(`${hosting}: under the engine, what a query sees is the fold of what the journal holds, and what is too large is refused`, async () => {
    const from = await guest();
    const journal = new MemoryJournal();
    const ref = { component: 'shopping-cart', id: 'c1' };
    const start = (limits: Partial<EngineLimits> = {}) =>
      createEngine({
        limits,
        guest: from,
        journal,
        clock: { nowMs: () => context.nowMs, monotonicMs: () => 1 },
        random: { next64: () => 1n },
        digest: systemDigest,
        eventLoop: systemEventLoop,
        faultLog: (_entity, _handler, fault) => {
          throw fault;
        },
      });
    const engine = start();
    for (const [sku, quantity] of [
      ['a', 1],
      ['b', 2],
      ['a', 3],
    ] as const)
      await engine.call(ref, 'add-item', JSON.stringify({ sku, quantity }), []);
    const before = await engine.call(ref, 'get', 'null', []);
    expect(await engine.readEvents(ref, 0, 10)).toMatchObject([
      { seq: 1, event: added('a', 1) },
      { seq: 2, event: added('b', 2) },
      { seq: 3, event: added('a', 3) },
    ]);
    await engine.close();
    expect(await start().call(ref, 'get', 'null', [])).toEqual(before);

    const strict = start({ eventBytesMax: 64 });
    const large = JSON.stringify({ sku: 'x'.repeat(64), quantity: 1 });
    for (const key of [undefined, 'k', 'k'])
      expect(await strict.call(ref, 'add-item', large, [], key)).toMatchObject({
        code: 'UNPROCESSABLE',
        message: expect.stringContaining('(SVC_EVENT_TOO_LARGE)') as string,
      });
    expect(await strict.call(ref, 'get', 'null', [])).toEqual(before);
    expect(await strict.readEvents(ref, 0, 10)).toHaveLength(3);
  });
}

function endpointSuite(hosting: string, openCart: OpenCart): void {
  const guest = () => opened(openCart);
  describe(`${hosting}: an endpoint`, () => {
    const reply: Reply = { kind: 'reply', json: '{"id":"c1","items":[],"checkedOut":false}' };

    test('calls its entity with the metadata of the request, and answers its reply', async () => {
      const from = await guest();
      const made: unknown[] = [];
      const route = routeOf(from, 'POST', '/carts/{id}/items');
      const body = { kind: 'json', text: '{"sku":"a","quantity":2}' } as const;
      const answer = await from.endpoints.handle(
        context,
        request(route, { body }),
        answering(reply, made),
      );
      expect(answer).toMatchObject({
        kind: 'response',
        status: 200,
        body: { kind: 'json', text: reply.json },
      });
      const input = expect.stringContaining('"quantity":2');
      expect(made).toEqual([
        [{ component: 'shopping-cart', id: 'c1' }, 'add-item', input, context.metadata, undefined],
      ]);
    });

    test("passes its entity's refusal on", async () => {
      const from = await guest();
      const refused: Refusal = {
        kind: 'refusal',
        code: 'CONFLICT',
        message: 'no',
        details: '{"a":1}',
      };
      const route = request(routeOf(from, 'POST', '/carts/{id}/check-out'));
      expect(await from.endpoints.handle(context, route, answering(refused))).toEqual(refused);
    });

    test('refuses a body that does not decode, and calls nobody', async () => {
      const from = await guest();
      const made: unknown[] = [];
      const route = routeOf(from, 'POST', '/carts/{id}/items');
      const body = { kind: 'json', text: '{"sku":"a"}' } as const;
      expect(
        await from.endpoints.handle(context, request(route, { body }), answering(reply, made)),
      ).toMatchObject({
        kind: 'refusal',
        code: 'BAD_REQUEST',
        message: expect.stringContaining('quantity'),
      });
      expect(made).toEqual([]);
    });

    test('serves requests at the same time, each with its own answer', async () => {
      const from = await guest();
      const route = routeOf(from, 'GET', '/carts/{id}');
      const echo: HostCalls = {
        ...answering(reply),
        call: async ({ id }) => ({
          kind: 'reply',
          json: JSON.stringify({ id, items: [], checkedOut: false }),
        }),
      };
      const ids = Array.from({ length: 20 }, (_, index) => `cart-${index}`);
      const answers = await Promise.all(
        ids.map(async (id) =>
          from.endpoints.handle(context, request(route, { parameters: [id] }), echo),
        ),
      );
      expect(answers.map((answer) => answer.kind === 'response' && answer.body)).toEqual(
        ids.map((id) => ({ kind: 'json', text: `{"id":"${id}","items":[],"checkedOut":false}` })),
      );
    });
  });
}

function parsed(answer: Effect | Reply | Refusal): unknown {
  if (answer.kind !== 'reply') throw new Error(`no reply: ${JSON.stringify(answer)}`);
  return JSON.parse(answer.json);
}
