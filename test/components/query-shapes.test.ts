// How a query string becomes the value of a schema: names, aliases, lists, and schemas behind others.
import { Type, type TSchema } from 'typebox';
import { expect, test } from 'vitest';
import { createEmbeddedGuest } from '../../components/embedded-guest.ts';
import { defineEndpoint } from '../../components/endpoint-definition.ts';
import { queryFlag } from '../../components/query-flag.ts';
import { get } from '../../components/route-definition.ts';
import { WITHOUT_TIMERS } from '../support/without-timers.ts';

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
const LogQuery = Type.Object(
  { previous: queryFlag(), tail: Type.Optional(Type.Integer({ minimum: 0 })) },
  { additionalProperties: false },
);
const closed = Type.Object(
  { ...LogQuery.properties, text: Type.Optional(Type.String()) },
  { additionalProperties: false },
);
const unchanged = <Schema extends TSchema>(schema: Schema) =>
  Type.Codec(schema)
    .Decode((value) => value)
    .Encode((value) => value);

test.each<readonly [string, TSchema, string, unknown]>([
  [
    'a scalar that is given twice',
    Type.Object({ n: Type.Integer() }),
    'n=1&n=2&n=3',
    'n: is given twice',
  ],
  ['undeclared names, whatever they are', Type.Object({}), 'x=1&x=2&y=%zz&%ff', {}],
  ['undeclared names of a closed object', closed, 'x=1', 'x: is not known'],
  ['a plus as a space, and UTF-8', closed, 'text=a+%C3%BC%2B', { text: 'a ü+', previous: false }],
  [
    'a percent-encoding that is no UTF-8',
    closed,
    'text=%c0%af',
    'text: has a percent-encoding that is not UTF-8',
  ],
  ['a flag without a value', closed, 'previous', { previous: true }],
  ['a flag with an empty value', closed, 'previous=', { previous: true }],
  ['a flag that is true', closed, 'previous=true', { previous: true }],
  ['a flag that is false', closed, 'previous=false', { previous: false }],
  ['a flag that is not given', closed, '', { previous: false }],
  [
    'another value of a flag',
    closed,
    'previous=maybe',
    'previous: must be true or false, found "maybe"',
  ],
  [
    'every problem at once',
    closed,
    'tail=-1&previous=maybe&x=1&text=%zz&text=a&__proto__=1',
    'text: has a percent-encoding that is not UTF-8; x: is not known; __proto__: is not known; ' +
      'previous: must be true or false, found "maybe"; ' +
      'tail: must be an integer from 0 to 9007199254740991, found -1',
  ],
  [
    'a boolean that is no flag',
    Type.Object({ on: Type.Boolean() }),
    'on',
    'on: must be true or false, found ""',
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

test('names at most 20 problems of a query, and at most 20 of a body', async () => {
  const query = Array.from({ length: 1_000 }, (_, at) => `x${at}=1`).join('&');
  const problems = String(await given(closed, query)).split('; ');
  expect(problems.slice(-2)).toEqual(['x19: is not known', 'and perhaps more']);
  expect(problems).toHaveLength(21);
  const long = String(await given(closed, `${'x'.repeat(10_000)}=1`));
  expect(long).toBe(`${'x'.repeat(200)}…: is not known`);
});
