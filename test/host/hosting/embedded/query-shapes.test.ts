// How a query string becomes the value of a schema: names, aliases, lists, and schemas behind others.
import { Type, type TSchema } from 'typebox';
import { expect, test } from 'vitest';
import { createEmbeddedGuest } from '../../../../host/hosting/embedded/embedded-guest.ts';
import { defineEndpoint } from '../../../../host/hosting/embedded/endpoint-definition.ts';
import { get } from '../../../../host/hosting/embedded/route-definition.ts';
import { WITHOUT_TIMERS } from '../../../support/without-timers.ts';

/** What the handler is given, or the refusal's message. */
async function given(schema: TSchema, query: string): Promise<unknown> {
  const route = get('', { query: schema, reply: 'text' }, (request) =>
    JSON.stringify(request.query),
  );
  const endpoint = defineEndpoint({ prefix: '/e', access: 'local', routes: { only: route } });
  const { endpoints } = createEmbeddedGuest({ endpoints: [endpoint], entities: [] });
  const answer = await endpoints.handle(
    { nowMs: 5, seed: 7n, metadata: [] },
    { route: 0, parameters: [], query, headers: [], caller: 'local', body: { kind: 'none' } },
    {
      nowMs: () => 6,
      call: () => ({ kind: 'reply', json: 'null' }),
      ...WITHOUT_TIMERS,
      readEvents: () => [],
    },
  );
  if (answer.kind !== 'response') return answer.message;
  return answer.body.kind === 'text' ? JSON.parse(answer.body.text) : answer.body;
}

const numbers = Type.Array(Type.Integer());
const aliased = Type.Object({
  count: Type.Integer({ aliases: ['n'] }),
  tags: Type.Array(Type.Integer(), { aliases: ['tag'] }),
});
const unchanged = <Schema extends TSchema>(schema: Schema) =>
  Type.Codec(schema)
    .Decode((value) => value)
    .Encode((value) => value);

test.each<readonly [string, TSchema, string, unknown]>([
  [
    'the first of a scalar that is given twice',
    Type.Object({ n: Type.Integer() }),
    'n=1&n=2',
    { n: 1 },
  ],
  ['an alias, by the type of its field', aliased, 'n=1&tag=2&tag=3', { count: 1, tags: [2, 3] }],
  ['names as they are now', aliased, 'count=1&tags=2', { count: 1, tags: [2] }],
  [
    'a name and its alias',
    aliased,
    'count=1&n=2&tags=2',
    "n: is given twice: 'count' and 'n' are names of one field",
  ],
  ['a list behind a codec', Type.Object({ n: unchanged(numbers) }), 'n=1&n=2', { n: [1, 2] }],
  [
    'a list that may be null',
    Type.Object({ n: Type.Union([numbers, Type.Null()]) }),
    'n=1',
    { n: [1] },
  ],
  [
    'a list behind a name',
    Type.Object({ n: Type.Cyclic({ Numbers: numbers }, 'Numbers') }),
    'n=1',
    { n: [1] },
  ],
  ['an object behind a codec', unchanged(Type.Object({ n: Type.Integer() })), 'n=1', { n: 1 }],
  [
    'an object that may be null',
    Type.Union([Type.Object({ n: Type.Integer() }), Type.Null()]),
    'n=1',
    { n: 1 },
  ],
  [
    'names that mean something else in JavaScript',
    Type.Object({ constructor: Type.Integer(), toString: Type.Optional(Type.String()) }),
    '__proto__=1&constructor=2&toString=x',
    { constructor: 2, toString: 'x' },
  ],
])('%s', async (_what, schema, query, expected) => {
  expect(await given(schema, query)).toEqual(expected);
});
