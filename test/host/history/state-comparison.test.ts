// StateComparison: how two states differ in the fields that their types have in common.
import type { TypeSchema } from '@svc/contract';
import { describe, expect, test } from 'vitest';
import { stateDifference, typeDifferences } from '../../../host/history/state-comparison.ts';

const text: TypeSchema = { type: 'string' };
const number: TypeSchema = { type: 'integer', minimum: 0, maximum: 255 };
const float: TypeSchema = { type: 'number', format: 'float' };
const double: TypeSchema = { type: 'number', format: 'double' };
const record = (properties: Record<string, TypeSchema | { const: string }>): TypeSchema => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
});
const list = (items: TypeSchema): TypeSchema => ({ type: 'array', items });
const map = (values: TypeSchema): TypeSchema => ({ type: 'object', additionalProperties: values });
const door: TypeSchema = {
  oneOf: [{ $ref: '#/types/Open' }, { $ref: '#/types/Shut' }],
  discriminator: { propertyName: 'type' },
};
const types = {
  Open: record({ type: { const: 'open' }, width: number }),
  Shut: record({ type: { const: 'shut' }, lock: text }),
};

function difference(
  before: unknown,
  now: unknown,
  beforeType: TypeSchema,
  nowType: TypeSchema = beforeType,
) {
  return stateDifference(
    JSON.stringify(before),
    JSON.stringify(now),
    { type: beforeType, types },
    { type: nowType, types },
  );
}

describe('there is no difference', () => {
  test('in what only one of the types has', () => {
    const before = record({ a: number, gone: text });
    const now = record({ a: number, added: text });
    expect(difference({ a: 1, gone: 'x' }, { a: 1, added: 'y' }, before, now)).toBeUndefined();
  });

  test('in values of different kinds: that is reported of the types', () => {
    const [before, now] = [record({ a: number }), record({ a: text })];
    expect(difference({ a: 1 }, { a: '1' }, before, now)).toBeUndefined();
    expect(typeDifferences({ type: before, types }, { type: now, types })).toEqual([
      { kind: 'retyped', path: 'a' },
    ]);
  });

  test('in the order of fields and of keys', () => {
    const type = map(record({ a: number, b: number }));
    const before = { x: { a: 1, b: 2 }, y: { a: 3, b: 4 } };
    expect(difference(before, { y: { b: 4, a: 3 }, x: { b: 2, a: 1 } }, type)).toBeUndefined();
  });

  test('between a float and the double that it is read as, the other way there is', () => {
    expect(difference(0.1, 0.100_000_001_490_116_12, float, double)).toBeUndefined();
    expect(difference(0.100_000_001_490_116_12, 0.1, double, float)).toBeDefined();
    expect(difference(0.1, 0.2, float, double)).toBeDefined();
  });
});

const deep = (inner: string) => `${'['.repeat(200_000)}${inner}${']'.repeat(200_000)}`;

describe('a field with another name', () => {
  const before = list(record({ fee: number, other: text }));
  const now = list({
    ...record({ feePerDay: number, other: text }),
    aliases: { feePerDay: ['fee'] },
  } as TypeSchema);

  test('is compared when the old one is its alias', () => {
    const old = [{ fee: 1, other: 'x' }];
    expect(typeDifferences({ type: before, types }, { type: now, types })).toEqual([]);
    expect(difference(old, [{ other: 'x', feePerDay: 1 }], before, now)).toBeUndefined();
    expect(difference(old, [{ feePerDay: 2, other: 'x' }], before, now)).toEqual({
      path: '[0].fee',
      pattern: '[].fee',
      before: '1',
      now: '2',
    });
    expect(difference(old, [{ feePerDay: 1, other: 'y' }], before, now)).toMatchObject({
      path: '[0].other',
    });
  });

  test('is reported once without an alias', () => {
    const bare = list(record({ feePerDay: number, other: text }));
    expect(
      difference([{ fee: 1, other: 'x' }], [{ feePerDay: 2, other: 'x' }], before, bare),
    ).toBeUndefined();
    expect(typeDifferences({ type: before, types }, { type: bare, types })).toEqual([
      { kind: 'removed', path: '[].fee', renamed: 'feePerDay' },
    ]);
  });
});

describe('the first difference is reported with its path and both values:', () => {
  test.each([
    ['of a field', { a: 1 }, { a: 2 }, record({ a: number }), 'a', 'a', '1', '2'],
    [
      'of a field in a list',
      [{ a: 1 }, { a: 2 }],
      [{ a: 1 }, { a: 3 }],
      list(record({ a: number })),
      '[1].a',
      '[].a',
      '2',
      '3',
    ],
    ['of an item more', [1], [1, 2], list(number), '[1]', '[]', 'nothing', '2'],
    ['of a value in a map', { 'a b': 1 }, { 'a b': 2 }, map(number), '["a b"]', '[]', '1', '2'],
    ['of a key that is gone', { k: 1 }, {}, map(number), '["k"]', '[]', '1', 'nothing'],
    ['of a whole state', 1, 2, number, '', '', '1', '2'],
    ['of null', null, { a: 1 }, record({ a: number }), '', '', 'null', '{"a":1}'],
    [
      'of a case',
      { type: 'open', width: 1 },
      { type: 'shut', lock: 'x' },
      door,
      'type',
      'type',
      '"open"',
      '"shut"',
    ],
    [
      'within a case',
      { type: 'open', width: 1 },
      { type: 'open', width: 2 },
      door,
      'width',
      'width',
      '1',
      '2',
    ],
  ] as const)('%s', (_what, before, now, type, path, pattern, shownBefore, shownNow) => {
    expect(difference(before, now, type)).toEqual({
      path,
      pattern,
      before: shownBefore,
      now: shownNow,
    });
  });

  test('a large value is shortened', () => {
    const found = difference('a'.repeat(1_000_000), 'b', text);
    expect(found!.before.length).toBeLessThan(200);
  });

  test('texts that are no JSON are the same or are not', () => {
    const type = { type: text, types };
    expect(stateDifference('{', '{', type, type)).toBeUndefined();
    expect(stateDifference('{', '}', type, type)).toMatchObject({ path: '', before: '"{"' });
  });

  test('so do states that nest deeper than a stack', () => {
    const type = { type: list(list(number)), types };
    expect(stateDifference(deep('1'), deep('2'), type, type)).toMatchObject({ path: '' });
  });
});

const node = (value: TypeSchema): Record<string, TypeSchema> => ({
  Node: record({ value, next: { anyOf: [{ $ref: '#/types/Node' }, { type: 'null' }] } }),
});

describe('of two types', () => {
  test('a removed field is reported, with the name that it perhaps has now', () => {
    const before = record({ owner: text, at: list(record({ grams: number })) });
    const now = record({ keeper: text, at: list(record({ weight: number, note: text })) });
    expect(typeDifferences({ type: before, types }, { type: now, types })).toEqual([
      { kind: 'removed', path: 'owner', renamed: 'keeper' },
      { kind: 'removed', path: 'at[].grams', renamed: 'weight' },
    ]);
  });

  test('one that holds itself is looked at once', () => {
    expect(
      typeDifferences(
        { type: { $ref: '#/types/Node' }, types: node(number) },
        { type: { $ref: '#/types/Node' }, types: node(text) },
      ),
    ).toEqual([{ kind: 'retyped', path: 'value' }]);
  });
});
