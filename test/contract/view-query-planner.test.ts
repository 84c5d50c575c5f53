import { describe, expect, test } from 'vitest';
import { type TypeSchema, type ViewQueryPlan, planViewQuery } from '@svc/contract';

const text = { type: 'string' } as const;
const i32 = { type: 'integer', minimum: -(2 ** 31), maximum: 2 ** 31 - 1 } as const;
const time = { type: 'string', format: 'date-time' } as const;
const nullable = (type: TypeSchema) => ({ anyOf: [type, { type: 'null' }] }) as TypeSchema;
const ref = (name: string) => ({ $ref: `#/types/${name}` });
const record = (properties: Record<string, TypeSchema>): TypeSchema => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
});

const fields = {
  customer: text,
  country: nullable(text),
  status: ref('Status'),
  placedAt: time,
  total: { type: 'string', format: 'decimal' },
  took: { type: 'string', format: 'duration' },
  count: i32,
  bytes64: { type: ['integer', 'string'], format: 'uint64' },
  signed64: { type: ['integer', 'string'], format: 'int64' },
  weight: { type: 'number', format: 'double' },
  paid: { type: 'boolean' },
  key: text,
  'it\'s "quoted"': text,
  $: text,
  lines: { type: 'array', items: text },
  labels: { type: 'object', additionalProperties: text },
  address: ref('Address'),
  event: { oneOf: [ref('Address')], discriminator: { propertyName: 'type' } },
  photo: { type: 'string', contentEncoding: 'base64' },
  nothing: { type: 'null' },
} satisfies Record<string, TypeSchema>;

const types: Record<string, TypeSchema> = {
  Row: record(fields),
  Status: { type: 'string', enum: ['placed', 'expired', 'paid', 'lost'] },
  OtherStatus: { type: 'string', enum: ['placed', 'expired'] },
  Address: record({ city: text }),
};

const CUSTOMER_TIME = ['customer', 'placedAt'];

function planned(
  where: string,
  parameters: Record<string, TypeSchema>,
  ...indexes: readonly (readonly string[])[]
) {
  const given = Object.keys(parameters).length === 0 ? undefined : record(parameters);
  return planViewQuery(where, given, { row: ref('Row'), indexes }, types);
}

function planOf(...query: Parameters<typeof planned>): ViewQueryPlan {
  const result = planned(...query);
  if (!result.ok) throw new Error(result.problem.message);
  return result.plan;
}

function problemOf(...query: Parameters<typeof planned>): string | undefined {
  const result = planned(...query);
  return result.ok ? undefined : result.problem.message;
}

const key = { index: 'key', equals: [], range: undefined, descending: false };
const since = { kind: 'between', lower: { parameter: 'since', isInclusive: true } };

describe('a query is one walk', () => {
  test.each<[string, Record<string, TypeSchema>, (readonly string[])[], object]>([
    ['', {}, [CUSTOMER_TIME], key],
    ['order by key desc', {}, [], { ...key, descending: true }],
    ['key = :k', { k: text }, [], { ...key, equals: ['k'] }],
    [
      'key starts with :p order by key',
      { p: text },
      [],
      { ...key, range: { kind: 'prefix', parameter: 'p' } },
    ],
    ['customer = :c', { c: text }, [CUSTOMER_TIME], { ...key, index: 0, equals: ['c'] }],
    ['order by placedAt desc', {}, [['placedAt']], { ...key, index: 0, descending: true }],
    [
      'customer = :customer and placedAt >= :since order by placedAt desc',
      { customer: text, since: time },
      [['status'], CUSTOMER_TIME],
      { index: 1, equals: ['customer'], range: since, descending: true },
    ],
    [
      'placedAt < :until and customer = :c and placedAt >= :since',
      { c: text, since: time, until: time },
      [CUSTOMER_TIME],
      {
        index: 0,
        equals: ['c'],
        range: { ...since, upper: { parameter: 'until', isInclusive: false } },
        descending: false,
      },
    ],
    [
      'placedAt <= :until and placedAt > :since',
      { since: time, until: time },
      [['placedAt']],
      {
        ...key,
        index: 0,
        range: {
          kind: 'between',
          lower: { parameter: 'since', isInclusive: false },
          upper: { parameter: 'until', isInclusive: true },
        },
      },
    ],
    // Equalities are given in the order of the index, whatever the order of the text.
    [
      'status = :s and customer = :c',
      { c: text, s: ref('Status') },
      [['customer', 'status', 'placedAt']],
      { ...key, index: 0, equals: ['c', 's'] },
    ],
    // The key follows the fields of an index.
    [
      'customer = :c and key starts with :p order by key desc',
      { c: text, p: text },
      [CUSTOMER_TIME, ['customer']],
      { index: 1, equals: ['c'], range: { kind: 'prefix', parameter: 'p' }, descending: true },
    ],
    [
      'key = :k and customer = :c',
      { c: text, k: text },
      [['customer']],
      { ...key, index: 0, equals: ['c', 'k'] },
    ],
    // The shortest index serves, and the first of equal ones.
    [
      'customer = :c',
      { c: text },
      [CUSTOMER_TIME, ['customer'], ['customer']],
      { ...key, index: 1, equals: ['c'] },
    ],
    // Nullability may differ, and one parameter may stand twice.
    [
      'country = :c and customer = :c',
      { c: nullable(text) },
      [['country', 'customer']],
      { ...key, index: 0, equals: ['c', 'c'] },
    ],
    ['country = :c', { c: text }, [['country']], { ...key, index: 0, equals: ['c'] }],
    // A field that is named `key` is not the key.
    ['"key" = :k', { k: text }, [['key']], { ...key, index: 0, equals: ['k'] }],
    [
      '"it\'s ""quoted""" = :"a b"',
      { 'a b': text },
      [['it\'s "quoted"']],
      { ...key, index: 0, equals: ['a b'] },
    ],
    ...(['total', 'took', 'count', 'bytes64', 'signed64', 'weight', 'paid'] as const).map(
      (field): [string, Record<string, TypeSchema>, (readonly string[])[], object] => [
        `${field} >= :since`,
        { since: fields[field] },
        [[field]],
        { ...key, index: 0, range: since },
      ],
    ),
  ])('%s', (where, parameters, indexes, expected) => {
    expect(planOf(where, parameters, ...indexes)).toEqual(expected);
  });
});

describe('a query is refused', () => {
  test.each<[string, string, Record<string, TypeSchema>, (readonly string[])[], string]>([
    ['without an index', 'customer = :c', { c: text }, [], 'declare the index ["customer"]'],
    [
      'with an index in another order',
      'customer = :c and placedAt >= :s',
      { c: text, s: time },
      [['placedAt', 'customer']],
      'no index of the view serves the query: declare the index ["customer", "placedAt"]',
    ],
    [
      'with an order that its index does not have',
      'customer = :c order by key',
      { c: text },
      [CUSTOMER_TIME],
      'declare the index ["customer"]',
    ],
    [
      'without an index of a name full of quotes',
      '"it\'s ""quoted""" = :a',
      { a: text },
      [CUSTOMER_TIME],
      String.raw`declare the index ["it's \"quoted\""]`,
    ],
    [
      'with conditions on five fields',
      'customer = :t and country = :t and $ = :t and "key" = :t and count = :i',
      { t: text, i: i32 },
      [],
      'the query has conditions on 5 fields, and an index has at most 4',
    ],
    [
      'with two ranges',
      'placedAt > :t and count > :i',
      { t: time, i: i32 },
      [['placedAt', 'count']],
      "there are two ranges, of the field 'placedAt' and of the field 'count': a query has one",
    ],
    [
      'with a range and a prefix',
      'placedAt > :t and customer starts with :p',
      { t: time, p: text },
      [],
      'there are two ranges',
    ],
    [
      'with a prefix and a bound of one field',
      'customer > :p and customer starts with :p',
      { p: text },
      [],
      "the field 'customer' has 'starts with' and another condition",
    ],
    [
      'with a bound of a field that has a prefix',
      'customer starts with :p and customer < :p',
      { p: text },
      [],
      "the field 'customer' has 'starts with' and another condition",
    ],
    [
      'with two lower bounds',
      'count > :i and count >= :i',
      { i: i32 },
      [],
      "the field 'count' has two conditions of the same kind",
    ],
    [
      'with two upper bounds',
      'count < :i and count <= :i',
      { i: i32 },
      [],
      'has two conditions of the same kind',
    ],
    ['with = twice', 'count = :i and count = :i', { i: i32 }, [], "has a condition beside '='"],
    ['with = and a bound', 'count = :i and count > :i', { i: i32 }, [], "a condition beside '='"],
    ['with a bound and =', 'count > :i and count = :i', { i: i32 }, [], "a condition beside '='"],
    [
      'with the order of another field than the range',
      'placedAt > :t order by "key"',
      { t: time },
      [],
      "the range is of the field 'placedAt', and the order is by the field 'key': a range gives its rows in its own order. Write 'order by placedAt'",
    ],
    [
      'with the order of a field that is equal in all rows',
      'customer = :c order by customer',
      { c: text },
      [['customer']],
      "all rows that fit have the same value of the field 'customer'",
    ],
    ['with an order of one row', 'key = :k order by key', { k: text }, [], 'one row at most'],
    [
      'with a range of one row',
      'key = :k and count > :i',
      { k: text, i: i32 },
      [['count']],
      'one row at most',
    ],
    [
      'with a field that is not there',
      'custmer = :c',
      { c: text },
      [],
      "the row has no field 'custmer'. Did you mean 'customer'?",
    ],
    ['with a name that every object has', 'toString = :c', { c: text }, [], 'has no field'],
    ['with an order of no field', 'order by __proto__', {}, [], "has no field '__proto__'"],
    [
      'with a parameter that is not there',
      'customer = :custmer',
      { customer: text },
      [],
      "the query has no parameter 'custmer'. Did you mean 'customer'?",
    ],
    [
      'with a parameter without use',
      'customer = :c',
      { c: text, until: time },
      [['customer']],
      "the parameter 'until' is not used",
    ],
    [
      'with a parameter of another type',
      'placedAt >= :since',
      { since: text },
      [['placedAt']],
      "the parameter 'since' is a text, and the field 'placedAt' is a date-time: both need the same type",
    ],
    [
      'with an integer of another range',
      'count = :i',
      { i: { type: 'integer', minimum: 0, maximum: 255 } },
      [],
      "the parameter 'i' is an integer from 0 to 255, and the field 'count' is an integer from -2147483648 to 2147483647",
    ],
    ['with an int64 for an i32', 'count = :i', { i: fields.signed64 }, [], 'is an int64, and'],
    ['with an i32 for an int64', 'signed64 = :i', { i: i32 }, [], 'is an int64: both'],
    ['with an int64 for a uint64', 'bytes64 = :i', { i: fields.signed64 }, [], 'is a uint64: both'],
    [
      'with a float for a double',
      'weight > :w',
      { w: { type: 'number', format: 'float' } },
      [],
      'is a float, and',
    ],
    [
      'with another enum',
      'status = :s',
      { s: ref('OtherStatus') },
      [],
      "the parameter 's' is an enum of 'placed', 'expired', and the field 'status' is an enum of 'placed', 'expired', 'paid', …",
    ],
    ['with a text for an enum', 'status = :s', { s: text }, [], "the parameter 's' is a text"],
    ['with a key that is no text', 'key = :k', { k: i32 }, [], 'and the key is a text'],
    ['with a list as a parameter', 'customer = :c', { c: fields.lines }, [], "'c' is a list"],
    [
      'with a prefix of a number',
      'count starts with :i',
      { i: i32 },
      [],
      "'starts with' compares texts, and the field 'count' is an integer",
    ],
    ['with a prefix of an enum', 'status starts with :s', { s: text }, [], 'is an enum of'],
    ['with a prefix of a time', 'placedAt starts with :s', { s: text }, [], 'is a date-time'],
    ...(
      [
        ['lines', 'a list'],
        ['labels', 'a map'],
        ['address', 'a record'],
        ['event', 'a union'],
        ['photo', 'a sequence of bytes'],
        ['nothing', 'null'],
      ] as const
    ).map(([field, name]): [string, string, Record<string, TypeSchema>, string[][], string] => [
      `with ${name} in its order`,
      `order by ${field}`,
      {},
      [[field]],
      `the field '${field}' is ${name}: only texts, booleans, numbers, times and durations are compared`,
    ]),
  ])('%s', (_name, where, parameters, indexes, message) => {
    expect(problemOf(where, parameters, ...indexes)).toContain(message);
  });

  test('at the place of its problem', () => {
    const result = planned('customer = :c and  placedAt > :since', { c: text, since: text });
    expect(result).toMatchObject({ ok: false, problem: { offset: 30 } });
  });

  test('when its row or its parameters are no records', () => {
    const view = { row: ref('Row'), indexes: [] };
    const noRecord = planViewQuery('', undefined, { ...view, row: ref('Status') }, types);
    expect(noRecord).toMatchObject({ problem: { message: 'the row of the view is not a record' } });
    const noType = planViewQuery('', undefined, { ...view, row: ref('Other') }, types);
    expect(noType.ok).toBe(false);
    const parameters = planViewQuery('', nullable(ref('Address')), view, types);
    expect(parameters).toMatchObject({ problem: { message: 'the parameters are not a record' } });
  });
});
