// EmbeddedEndpoints: the input of a handler, its possible results, and its faults.
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import type { HostCalls } from '../../model/guest.ts';
import type { EndpointRequest } from '../../model/endpoint.ts';
import { createEmbeddedGuest } from '../../components/embedded-guest.ts';
import { defineEndpoint } from '../../components/endpoint-definition.ts';
import { respond } from '../../components/route-answer.ts';
import { get, post, put, type RouteDefinition } from '../../components/route-definition.ts';
import { refuse } from '../../components/result.ts';
import { GuestFault } from '../../model/guest-fault.ts';
import { SvcError } from '../../kit/svc-error.ts';
import { cart } from './support/cart.ts';
import { WITHOUT_TIMERS } from '../support/without-timers.ts';

const context = { nowMs: 5, seed: 7n, metadata: [['traceparent', 't']] } as const;
const calls: HostCalls = {
  nowMs: () => 6,
  call: () => ({ kind: 'reply', json: '{"id":"c","items":[],"checkedOut":false}' }),
  ...WITHOUT_TIMERS,
  readEvents: () => [],
};
const request: EndpointRequest = {
  route: 0,
  parameters: [],
  query: '',
  headers: [
    ['x-name', 'a'],
    ['x-name', 'b'],
  ],
  caller: 'local',
  body: { kind: 'none' },
};

function guestOf(route: RouteDefinition) {
  const endpoint = defineEndpoint({ prefix: '/e', access: 'local', routes: { only: route } });
  return createEmbeddedGuest({ endpoints: [endpoint], entities: [cart] });
}
const handled = async (
  route: RouteDefinition,
  other: Partial<EndpointRequest> = {},
  given: HostCalls = calls,
) => guestOf(route).endpoints.handle(context, { ...request, ...other }, given);

describe('a handler', () => {
  test('is given path, query, headers, caller and body by their types', async () => {
    const route = put(
      '/{id}/{count}/{ratio}/{on}/{colour}/{big}',
      {
        parameters: {
          count: Type.Integer(),
          ratio: Type.Number(),
          on: Type.Boolean(),
          colour: Type.Enum(['red', 'blue']),
          big: Type.BigInt(),
        },
        query: Type.Object({
          tag: Type.Array(Type.String(), { default: [] }),
          limit: Type.Optional(Type.Integer()),
        }),
        body: 'text',
        reply: 'text',
      },
      ({ parameters, query, body, header, headers, caller, queryText }) => {
        const { count, ratio, on, colour, big, id } = parameters;
        const shown = {
          id,
          count,
          ratio,
          on,
          colour,
          big: big + 1n,
          ...query,
          body,
          caller,
          queryText,
        };
        return `${Object.values(shown).join(' ')} ${header('X-Name')} ${headers.length}`;
      },
    );
    const answer = await handled(route, {
      parameters: ['a b', '-7', '1e3', 'true', 'red', '9007199254740993'],
      query: 'tag=x&limit=3&tag=y%20z&gone=1',
      body: { kind: 'text', text: 'hello' },
    });
    expect(answer).toEqual({
      kind: 'response',
      status: 200,
      headers: [],
      body: {
        kind: 'text',
        text: 'a b -7 1000 true red 9007199254740994 x,y z 3 hello local tag=x&limit=3&tag=y%20z&gone=1 a 2',
      },
    });
  });

  test.each([
    ['/{count}', ['1.0'], '', "path parameter 'count': must be an integer"],
    ['/{count}', ['+1'], '', "path parameter 'count': must be an integer"],
    ['/{count}', ['1'], 'limit=many', 'limit: must be an integer'],
    ['/{count}', ['1'], '', 'limit: is missing'],
  ] as const)('is not called for %s of %j?%s', async (path, parameters, query, message) => {
    const route = get(
      path,
      {
        parameters: { count: Type.Integer() },
        query: Type.Object({ limit: Type.Integer() }),
      },
      () => {
        throw new Error('it was called');
      },
    );
    expect(await handled(route, { parameters, query })).toMatchObject({
      kind: 'refusal',
      code: 'BAD_REQUEST',
      message: expect.stringContaining(message),
    });
  });

  test('is given null for a body that may be null and was not sent', async () => {
    const body = Type.Union([Type.Object({ name: Type.String() }), Type.Null()]);
    const route = post('', { body, reply: 'text' }, (given) => given.body?.name ?? 'nothing');
    const answered = async (sent: EndpointRequest['body']) =>
      (await handled(route, { body: sent })) as { readonly body: unknown };
    expect((await answered({ kind: 'none' })).body).toEqual({ kind: 'text', text: 'nothing' });
    expect((await answered({ kind: 'json', text: 'null' })).body).toEqual({
      kind: 'text',
      text: 'nothing',
    });
    expect((await answered({ kind: 'json', text: '{"name":"a"}' })).body).toEqual({
      kind: 'text',
      text: 'a',
    });
  });

  test('has time, chance and metadata of its request, and the same chance for the same seed', async () => {
    const route = get(
      '',
      { reply: Type.Array(Type.Number()) },
      (_request, { nowMs, random, seed, metadata }) => [
        nowMs,
        random(),
        random(),
        Number(seed),
        metadata('traceparent')!.length,
      ],
    );
    const [one, two] = await Promise.all([handled(route), handled(route)]);
    expect(one).toEqual(two);
    const [nowMs, first, second, ...rest] = JSON.parse(
      (one as unknown as { body: { text: string } }).body.text,
    ) as number[];
    expect([nowMs, ...rest]).toEqual([6, 7, 1]);
    expect(first).not.toBe(second);
    for (const number of [first!, second!]) expect(number >= 0 && number < 1).toBe(true);
  });

  test('answers a value, bytes, nothing, or a value with status and headers', async () => {
    const bytes = new Uint8Array([1, 2]);
    expect(await handled(get('', { reply: 'bytes' }, () => bytes))).toMatchObject({
      status: 200,
      body: { kind: 'bytes', bytes },
    });
    expect(await handled(post('', {}, async () => {}))).toEqual({
      kind: 'response',
      status: 204,
      headers: [],
      body: { kind: 'none' },
    });
    const created = post('', { reply: Type.String() }, () =>
      respond('made', { status: 201, headers: { location: '/e/1' } }),
    );
    expect(await handled(created)).toEqual({
      kind: 'response',
      status: 201,
      headers: [['location', '/e/1']],
      body: { kind: 'json', text: '"made"' },
    });
  });

  test('refuses with code, details and a word of its own', async () => {
    const route = get('', {}, () =>
      refuse('no', 'OTHER', { otherCode: 'CLOSED', details: { until: 3 } }),
    );
    expect(await handled(route)).toEqual({
      kind: 'refusal',
      code: 'OTHER',
      otherCode: 'CLOSED',
      message: 'no',
      details: '{"until":3}',
    });
  });

  test('sends its key with a call', async () => {
    const made: unknown[] = [];
    const route = post('', {}, async (_request, { call }) => {
      await call(cart, 'c').withIdempotencyKey('k-1').checkOut();
      await call(cart, 'c').checkOut();
    });
    await handled(
      route,
      {},
      {
        ...calls,
        call: (...call) => {
          made.push(call[4]);
          return { kind: 'reply', json: 'null' };
        },
      },
    );
    expect(made).toEqual(['k-1', undefined]);
  });

  test('reads the events of an entity as they are typed', async () => {
    const route = get('', { reply: 'text' }, async (_request, { call }) => {
      const events = await call(cart, 'c').events(1, 10);
      return events.map(({ seq, event }) => `${seq} ${event.type}`).join();
    });
    const stored = { manifest: 'cart-event', json: '{"type":"checked-out"}' };
    const readEvents = (): Awaited<ReturnType<HostCalls['readEvents']>> => [
      { kind: 'event', seq: 2, timeMs: 1, event: stored },
    ];
    expect(await handled(route, {}, { ...calls, readEvents })).toMatchObject({
      body: { text: '2 checked-out' },
    });
    const unreadable = (): Awaited<ReturnType<HostCalls['readEvents']>> => [
      { kind: 'event', seq: 2, timeMs: 1, event: { ...stored, json: '{"type":"gone"}' } },
    ];
    await expect(handled(route, {}, { ...calls, readEvents: unreadable })).rejects.toMatchObject({
      code: 'SVC_EVENT_UNREADABLE',
    });
  });
});

describe('what goes wrong in a handler', () => {
  test.each([
    ['an error', () => Promise.reject(new Error('secret')), 'trap'],
    [
      'an error at once',
      () => {
        throw new Error('secret');
      },
      'trap',
    ],
    ['a value that does not fit', () => ({ sku: 1 }) as never, 'value'],
    ['what has no text', () => Promise.reject(Object.create(null)), 'trap'],
    ['a refusal that cannot be', () => refuse('no', 'toString' as never), 'trap'],
    [
      'a header that is no text',
      () => respond({ sku: 'a' }, { headers: { age: 1 as never } }),
      'trap',
    ],
  ])('%s is its own fault', async (_what, handle, faultCause) => {
    const Item = Type.Object({ sku: Type.String() });
    const fault: unknown = await handled(get('', { reply: Item }, handle)).catch(
      (error: unknown) => error,
    );
    expect(fault).toBeInstanceOf(GuestFault);
    expect(fault).toMatchObject({
      faultCause,
      message: expect.stringMatching(/^handler 'only' of endpoint 'endpoint_e' (threw|made)/),
    });
    expect((fault as GuestFault).message).not.toContain('secret');
  });

  test('the failure of a call passes through unchanged, unless the handler handles it', async () => {
    const failure = new SvcError('SVC_OVERLOADED', 'too much');
    const failing: HostCalls = { ...calls, call: () => Promise.reject(failure) };
    const passing = post('', {}, (_request, { call }) => call(cart, 'c').checkOut());
    await expect(handled(passing, {}, failing)).rejects.toBe(failure);
    const catching = post('', {}, async (_request, { call }) => {
      await call(cart, 'c')
        .checkOut()
        .catch(() => {});
    });
    expect(await handled(catching, {}, failing)).toMatchObject({ status: 204 });
  });

  test('an entity that is none of the service is a fault', async () => {
    const endpoint = defineEndpoint({
      prefix: '/e',
      access: 'local',
      routes: { only: post('', {}, (_request, { call }) => call(cart, 'c').checkOut()) },
    });
    const guest = createEmbeddedGuest({ endpoints: [endpoint] });
    await expect(guest.endpoints.handle(context, request, calls)).rejects.toMatchObject({
      guestMessage: expect.stringContaining("component 'shopping-cart' is none of this service's"),
    });
  });

  test('a request that is under way fails when the service is closed', async () => {
    const guest = guestOf(get('', {}, () => new Promise<void>(() => {})));
    const answer = guest.endpoints.handle(context, request, calls);
    await guest.close();
    await expect(answer).rejects.toThrow('The service was stopped.');
    await expect(guest.endpoints.handle(context, request, calls)).rejects.toThrow('stopped');
  });
});

describe('components that cannot be', () => {
  const route = get('/a', {}, () => {});
  test.each([
    [
      'two routes that are the same',
      { endpoints: [endpointOf({ a: route, b: route })] },
      'match the same requests',
    ],
    [
      'a component twice',
      { entities: [cart, cart] },
      "component 'shopping-cart' is declared twice",
    ],
    [
      'a path without a slash',
      { endpoints: [endpointOf({ a: get('a', {}, () => {}) })] },
      'must match',
    ],
  ])('%s', (_what, components, problem) => {
    expect(() => createEmbeddedGuest(components)).toThrow(
      expect.objectContaining({
        code: 'SVC_DEFINITION_INVALID',
        message: expect.stringContaining(problem),
      }),
    );
  });

  test('but a parameter may have the name that every object has', () => {
    expect(get('/{constructor}', {}, () => {}).parameters).toMatchObject([
      { name: 'constructor', codec: { shape: { kind: 'text' } } },
    ]);
  });

  test('a schema for a parameter that the path does not have', () => {
    const parameters: object = { name: Type.Integer() };
    expect(() =>
      get('/{id}', { parameters: parameters as { id: Type.TInteger } }, () => {}),
    ).toThrow("route GET /{id}: the path has no parameter 'name'. Write {name} in it, or leave");
  });
});

function endpointOf(routes: Readonly<Record<string, RouteDefinition>>) {
  return defineEndpoint({ prefix: '/e', access: { services: ['orders'] }, routes });
}
