// EmbeddedDescriptor: how routes in TypeScript are described: their query, their statuses, and optional parts.
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { createEmbeddedGuest } from '../../components/embedded-guest.ts';
import { defineEndpoint } from '../../components/endpoint-definition.ts';
import { respond } from '../../components/route-answer.ts';
import { queryFlag } from '../../components/query-flag.ts';
import {
  before,
  get,
  jsonBytes,
  post,
  type RouteDefinition,
} from '../../components/route-definition.ts';
import { WITHOUT_TIMERS } from '../support/without-timers.ts';

function guestOf(route: RouteDefinition) {
  const endpoint = defineEndpoint({ prefix: '/e', access: 'local', routes: { only: route } });
  return createEmbeddedGuest({ endpoints: [endpoint], entities: [] });
}

function answered(route: RouteDefinition) {
  return guestOf(route).endpoints.handle(
    { nowMs: 5, seed: 7n, metadata: [] },
    { route: 0, parameters: [], query: '', headers: [], caller: 'local', body: { kind: 'none' } },
    {
      nowMs: () => 6,
      call: () => ({ kind: 'reply', json: 'null' }),
      ...WITHOUT_TIMERS,
      readEvents: () => [],
    },
  );
}

const described = (route: RouteDefinition) => {
  const { body, query } = guestOf(route).descriptor.endpoints[0]!.routes[0]!;
  return { body, query };
};

describe('the descriptor', () => {
  test('has the names of the query with their types, and whether they must be given', () => {
    const query = Type.Object({
      'page-size': Type.Integer({ minimum: 1, maximum: 100, default: 20 }),
      text: Type.String({ description: 'What to look for' }),
      tag: Type.Array(Type.String()),
      since: Type.Optional(Type.String({ format: 'date-time' })),
      author: Type.Union([Type.String(), Type.Null()]),
    });
    expect(described(get('', { query }, () => {})).query).toEqual([
      {
        name: 'page-size',
        schema: { type: 'integer', minimum: 1, maximum: 100 },
        required: false,
        default: 20,
      },
      {
        name: 'text',
        schema: { type: 'string', description: 'What to look for' },
        required: true,
      },
      { name: 'tag', schema: { type: 'array', items: { type: 'string' } }, required: true },
      { name: 'since', schema: { type: 'string', format: 'date-time' }, required: false },
      {
        name: 'author',
        schema: { anyOf: [{ type: 'string' }, { type: 'null' }] },
        required: false,
      },
    ]);
  });

  test('has the defaults that it can express, in their JSON form', () => {
    const Days = Type.Codec(Type.Integer({ default: 3 }))
      .Decode((days) => ({ days }))
      .Encode(({ days }) => days);
    const query = Type.Object({
      sort: Type.Union([Type.Literal('title'), Type.Literal('newest')], { default: 'title' }),
      big: Type.BigInt({ default: '9007199254740993' }),
      tag: Type.Array(Type.String(), { default: ['a', 'b'] }),
      none: Type.Array(Type.String(), { default: [] }),
      author: Type.Union([Type.String(), Type.Null()], { default: null }),
      somebody: Type.Union([Type.String(), Type.Null()], { default: 'me' }),
      within: Days,
      long: Type.String({ default: 'x'.repeat(201) }),
    });
    const defaults = described(get('', { query }, () => {})).query!.map((parameter) => [
      parameter.name,
      parameter.default,
    ]);
    expect(defaults).toEqual([
      ['sort', 'title'],
      ['big', '9007199254740993'],
      ['tag', ['a', 'b']],
      ['none', []],
      ['author', undefined],
      ['somebody', 'me'],
      ['within', 3],
      ['long', undefined],
    ]);
  });

  test('has no names of a query that takes any', () => {
    const query = Type.Record(Type.String(), Type.String());
    expect(described(get('', { query }, () => {})).query).toBeUndefined();
    expect(described(get('', {}, () => {})).query).toBeUndefined();
  });

  test('has statuses and what people read, and the first status below 300 is the plain one', async () => {
    const options = { answers: [404, 202, 200], summary: 'One line', description: 'And more' };
    const route = post('', { ...options, reply: 'text' }, () => 'later');
    expect(guestOf(route).descriptor.endpoints[0]!.routes[0]!).toMatchObject(options);
    expect(await answered(route)).toMatchObject({ kind: 'response', status: 202 });
    const own = post('', { ...options, reply: 'text' }, () => respond('now', { status: 200 }));
    expect(await answered(own)).toMatchObject({ kind: 'response', status: 200 });
    const wrong = post('', { answers: [99] }, () => {});
    expect(() => guestOf(wrong)).toThrow(/SVC_DEFINITION_INVALID|answers\/0: must be at least 200/);
  });

  test('says of a body that may be null that it can be left out', () => {
    const maybe = Type.Union([Type.Object({ name: Type.String() }), Type.Null()]);
    expect(described(post('', { body: maybe }, () => {})).body?.optional).toBe(true);
    expect(described(post('', { body: Type.String() }, () => {})).body?.optional).toBeUndefined();
    expect(described(post('', { body: 'text' }, () => {})).body?.optional).toBeUndefined();
  });
});

const routeOf = (route: RouteDefinition) => guestOf(route).descriptor.endpoints[0]!.routes[0]!;

describe('what a route declares', () => {
  const bearer = { scheme: 'bearer', realm: 'shop' } as const;

  test('is described with what the checks before it declare', () => {
    const route = before(() => 'ann', {
      security: bearer,
      refusals: { 401: 'no valid token', 404: 'no member' },
    })
      .before(() => 'owner', { refusals: { 403: 'no owner' } })
      .post('', { refusals: { 404: 'no such order', 409: 'it is paid' } }, () => {});
    expect(routeOf(route)).toMatchObject({
      security: bearer,
      refusals: [
        { status: 401, reason: 'no valid token' },
        { status: 403, reason: 'no owner' },
        { status: 404, reason: 'no member; no such order' },
        { status: 409, reason: 'it is paid' },
      ],
    });
  });

  test('of its own replaces the scheme of a check', () => {
    const key = { scheme: 'header', name: 'X-Key' } as const;
    const route = before(() => 'ann', { security: bearer }).get('', { security: key }, () => {});
    expect(routeOf(route).security).toEqual({ scheme: 'header', name: 'x-key' });
  });

  test('is nothing where it declares nothing', () => {
    expect(routeOf(before(() => 'ann').get('', {}, () => {}))).toEqual({
      method: 'GET',
      path: '',
      handler: 'only',
      parameters: [],
    });
  });

  test('has the schema of bytes that it reads as JSON, and its flags', () => {
    const body = jsonBytes(Type.Object({ name: Type.String() }));
    const query = Type.Object({ previous: queryFlag({ description: 'the former one' }) });
    expect(routeOf(post('', { body, query }, () => {}))).toMatchObject({
      body: { kind: 'bytes', schema: { type: 'object' } },
      query: [
        {
          name: 'previous',
          schema: { type: 'boolean', description: 'the former one' },
          required: false,
          default: false,
          flag: true,
        },
      ],
    });
    expect(
      routeOf(post('', { body: jsonBytes(Type.Union([Type.Integer(), Type.Null()])) }, () => {}))
        .body,
    ).toMatchObject({ optional: true });
  });

  test.each([
    ['a status that is no refusal', { refusals: { 200: 'done' } }],
    ['an empty reason', { refusals: { 409: '' } }],
    ['a realm with a quote', { security: { scheme: 'bearer', realm: '"' } as const }],
    ['a header that is none', { security: { scheme: 'header', name: 'a b' } as const }],
  ])('is refused with %s', (_what, declared) => {
    expect(() => guestOf(get('', declared, () => {}))).toThrow('Change what is named.');
  });
});
