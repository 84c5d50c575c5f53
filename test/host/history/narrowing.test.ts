// Narrowing: which types accept less than another one.
import type { TypeSchema } from '@svc/contract';
import { describe, expect, test } from 'vitest';
import { narrowing } from '../../../host/history/narrowing.ts';

const text: TypeSchema = { type: 'string' };
const date: TypeSchema = { type: 'string', format: 'date-time' };
const decimal: TypeSchema = { type: 'string', format: 'decimal' };
const duration: TypeSchema = { type: 'string', format: 'duration' };
const bytes: TypeSchema = { type: 'string', contentEncoding: 'base64' };
const flag: TypeSchema = { type: 'boolean' };
const none: TypeSchema = { type: 'null' };
const float: TypeSchema = { type: 'number', format: 'float' };
const double: TypeSchema = { type: 'number', format: 'double' };
const int64: TypeSchema = { type: ['integer', 'string'], format: 'int64' };
const uint64: TypeSchema = { type: ['integer', 'string'], format: 'uint64' };
const integer = (minimum: number, maximum: number): TypeSchema => ({
  type: 'integer',
  minimum,
  maximum,
});
const i32 = integer(-(2 ** 31), 2 ** 31 - 1);
const u32 = integer(0, 2 ** 32 - 1);
const member = (...names: string[]): TypeSchema => ({ type: 'string', enum: names });
const list = (items: TypeSchema): TypeSchema => ({ type: 'array', items });
const map = (values: TypeSchema): TypeSchema => ({ type: 'object', additionalProperties: values });
const maybe = (type: TypeSchema): TypeSchema => ({ anyOf: [type, { type: 'null' }] });
const ref = (name: string) => ({ $ref: `#/types/${name}` });
type Fields = Record<string, TypeSchema | { const: string }>;
const record = (properties: Fields, optional: readonly string[] = []): TypeSchema => ({
  type: 'object',
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
});
const aliased = (type: TypeSchema, aliases: Record<string, string[]>) =>
  ({ ...type, aliases }) as TypeSchema;
const kase = (tag: string, fields: Fields = {}) => record({ type: { const: tag }, ...fields });
const sum = (...names: string[]): TypeSchema => ({
  oneOf: names.map((name) => ref(name)),
  discriminator: { propertyName: 'type' },
});
const circle = kase('circle', { radius: double });
const square = kase('square', { side: double });
const shapes = { circle, square, shape: sum('circle', 'square') };

type Types = Record<string, TypeSchema>;
type Case = readonly [
  what: string,
  before: TypeSchema,
  now: TypeSchema,
  types?: Types,
  typesNow?: Types,
];

const fee = record({ fee: i32 });
const renamed = aliased(record({ feePerDay: i32 }), { feePerDay: ['fee', 'price'] });

const WIDER: readonly Case[] = [
  ['a field with another name and an alias', fee, renamed],
  ['that within a list', list(fee), list(renamed)],
  [
    'the alias as the name again',
    renamed,
    aliased(record({ price: i32 }), { price: ['fee', 'feePerDay'] }),
  ],
  ['a map whose keys are an alias', map(i32), aliased(record({ a: i32 }, ['a']), { a: ['b'] })],
  [
    'an alias less of what may be missing',
    aliased(record({ a: i32 }, ['a']), { a: ['b'] }),
    record({ a: i32 }, ['a']),
  ],
  ['the same integers', i32, i32],
  ['a larger integer', i32, int64],
  ['an unsigned one in a signed one of more bits', u32, int64],
  ['an integer as a double', i32, double],
  ['a float as a double', float, double],
  ['a member as any text', member('a', 'b'), text],
  ['one member more', member('a'), member('a', 'b')],
  ['a date as text', date, text],
  ['a decimal as text', decimal, text],
  ['bytes as text', bytes, text],
  ['what may be null now', text, maybe(text)],
  ['null alone, where null may be', none, maybe(i32)],
  ['a field more that may be missing', record({ a: text }), record({ a: text, b: text }, ['b'])],
  ['a field less', record({ a: text, b: text }), record({ a: text })],
  ['a field that may be missing now', record({ a: text }), record({ a: text }, ['a'])],
  ['an object as a map', record({ a: text, b: member('x') }), map(text)],
  ['a map as an object of optional fields', map(text), record({ a: text }, ['a'])],
  ['items that take more', list(i32), list(int64)],
  ['values that take more', map(i32), map(double)],
  ['one case more', sum('circle'), sum('circle', 'square'), shapes, shapes],
  ['a case as all of them', circle, sum('circle', 'square'), {}, shapes],
  ['all cases as an object without a tag', sum('circle'), record({ radius: double }), shapes],
];

type Narrower = readonly [
  what: string,
  before: TypeSchema,
  now: TypeSchema,
  types: Record<string, TypeSchema>,
  typesNow: Record<string, TypeSchema>,
  path: string,
];
const NARROWER: readonly Narrower[] = [
  ['text as a decimal', text, decimal, {}, {}, ''],
  ['a decimal as a duration', decimal, duration, {}, {}, ''],
  ['an integer as a decimal', i32, decimal, {}, {}, ''],
  ['a field with another name and no alias', fee, record({ feePerDay: i32 }), {}, {}, 'feePerDay'],
  ['an alias less', renamed, record({ feePerDay: i32 }), {}, {}, 'feePerDay'],
  ['an alias of another type', fee, aliased(record({ a: text }), { a: ['fee'] }), {}, {}, 'fee'],
  [
    'two fields that are one now',
    record({ a: i32, b: i32 }),
    aliased(record({ b: i32 }), { b: ['a'] }),
    {},
    {},
    'b',
  ],
  ['a smaller integer', int64, i32, {}, {}, ''],
  ['a signed integer as an unsigned one', i32, uint64, {}, {}, ''],
  ['an unsigned one of the same bits', uint64, int64, {}, {}, ''],
  ['an integer of 64 bits as a double', int64, double, {}, {}, ''],
  ['a double as an integer', double, i32, {}, {}, ''],
  ['a double as a float', double, float, {}, {}, ''],
  ['text as a date', text, date, {}, {}, ''],
  ['a date as bytes', date, bytes, {}, {}, ''],
  ['text as a member', text, member('a'), {}, {}, ''],
  ['a member less', member('a', 'b'), member('a'), {}, {}, ''],
  ['text as a flag', text, flag, {}, {}, ''],
  ['what could be null', maybe(text), text, {}, {}, ''],
  ['null where there was no input', none, i32, {}, {}, ''],
  ['a field that has to be there', record({}), record({ a: text }), {}, {}, 'a'],
  ['a field that could be missing', record({ a: text }, ['a']), record({ a: text }), {}, {}, 'a'],
  ['within a list', list(record({ a: i32 })), list(record({ a: text })), {}, {}, '[].a'],
  ['within a map', map(i32), map(text), {}, {}, '[]'],
  ['an odd name', record({ 'a b': i32 }), record({ 'a b': text }), {}, {}, '["a b"]'],
  ['an object as a list', record({}), list(text), {}, {}, ''],
  [
    'a map as an object with a field that has to be there',
    map(text),
    record({ a: text }),
    {},
    {},
    'a',
  ],
  ['a case less', sum('circle', 'square'), sum('circle'), shapes, shapes, ''],
  ['an object as a case', record({}), sum('circle'), {}, shapes, ''],
  [
    'within a case',
    sum('circle'),
    sum('circle'),
    shapes,
    { circle: kase('circle', { radius: float }) },
    'radius',
  ],
];

describe('what takes as much is no narrowing:', () => {
  test.each(WIDER.map((one) => ({ what: one[0], one })))('$what', ({ one }) => {
    const [, before, now, types = {}, typesNow = types] = one;
    expect(narrowing({ type: before, types }, { type: now, types: typesNow })).toBeUndefined();
  });
});

describe('a type that accepts less is reported with the path:', () => {
  test.each(NARROWER)('%s', (_what, before, now, types, typesNow, path) => {
    expect(narrowing({ type: before, types }, { type: now, types: typesNow })?.path).toBe(path);
  });
});

const node = (value: TypeSchema) => ({
  node: record({ value, next: maybe(ref('node')) }, ['next']),
});

describe('a type that holds itself', () => {
  test('takes as much when each of its fields does', () => {
    expect(
      narrowing({ type: ref('node'), types: node(i32) }, { type: ref('node'), types: node(int64) }),
    ).toBeUndefined();
  });

  test('takes less where it is met first', () => {
    expect(
      narrowing({ type: ref('node'), types: node(i32) }, { type: ref('node'), types: node(text) }),
    ).toMatchObject({ path: 'value' });
  });
});

test('the field that was perhaps renamed is named, with the alias to declare', () => {
  const now = record({ feePerDay: i32, other: text }, ['other']);
  expect(narrowing({ type: fee, types: {} }, { type: now, types: {} })?.problem).toBe(
    "it may not be missing any more; perhaps 'fee' was renamed to it: as an alias of it, 'fee' is read, too",
  );
});

test('the names of a type are looked through once, however many of its fields have aliases', () => {
  const count = 500;
  let reads = 0;
  const swapped = (own: string, other: string) => {
    const fields = Array.from({ length: count }, (_, index) => [`${own}${index}`, none] as const);
    const aliases = fields.map(([name], index): [string, string[]] => [name, [`${other}${index}`]]);
    const counted = new Proxy(Object.fromEntries(aliases), {
      get: (target, name: string) => (reads++, target[name]),
    });
    return { type: aliased(record(Object.fromEntries(fields)), counted), types: {} };
  };
  expect(narrowing(swapped('a', 'b'), swapped('b', 'a'))).toBeUndefined();
  expect(reads).toBeLessThan(10 * count);
});
