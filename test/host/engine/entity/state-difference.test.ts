import { describe, expect, test } from 'vitest';
import { differencePath } from '../../../../host/engine/entity/state-difference.ts';

const types = {
  State: {
    type: 'object',
    properties: {
      items: { type: 'array', items: { $ref: '#/types/Item' } },
      owners: { type: 'object', additionalProperties: { $ref: '#/types/Item' } },
      note: { anyOf: [{ $ref: '#/types/Item' }, { type: 'null' }] },
      shape: { $ref: '#/types/Shape' },
    },
    required: [],
  },
  Item: {
    type: 'object',
    properties: { name: { type: 'string' }, next: { $ref: '#/types/Item' } },
    required: [],
  },
  Shape: {
    oneOf: [{ $ref: '#/types/Circle' }, { $ref: '#/types/Square' }],
    discriminator: { propertyName: 'type' },
  },
  Circle: {
    type: 'object',
    properties: { type: { const: 'circle' }, radius: { type: 'number', format: 'double' } },
    required: [],
  },
  Square: {
    type: 'object',
    properties: { type: { const: 'square' }, side: { type: 'number', format: 'double' } },
    required: [],
  },
  Loop: { $ref: '#/types/Loop' },
} as const;

function pathOf(before: unknown, after: unknown, type = 'State') {
  const schema = { $ref: `#/types/${type}` };
  return differencePath(JSON.stringify(before), JSON.stringify(after), schema, types as never);
}

const owners = (name: string) => ({ owners: { 'bob@example.org': { name } } });
const named = (name: string, length: number) =>
  JSON.stringify({ items: [{ name: name.repeat(length) }] });
const deep = (inner: string) => '['.repeat(100_000) + inner + ']'.repeat(100_000);

describe('the path to the first difference', () => {
  test.each([
    [{ items: [{ name: 'a' }] }, { items: [{ name: 'b' }] }, 'items[0].name'],
    [{ items: [{}] }, { items: [{}, {}] }, 'items[1]'],
    [{ items: [{}, {}] }, { items: [] }, 'items[0]'],
    [{ note: null }, { note: { name: 'a' } }, 'note'],
    [{ note: { name: 'a' } }, { note: { name: 'b' } }, 'note.name'],
    [{ shape: { type: 'square', side: 1 } }, { shape: { type: 'square', side: 2 } }, 'shape.side'],
    [{ shape: { type: 'circle' } }, { shape: { type: 'square' } }, 'shape.type'],
    [{ items: [] }, { items: {} }, 'items'],
  ])('from %j to %j is %s', (before, after, path) => {
    expect(pathOf(before, after)).toBe(path);
  });

  test('never has the key of a map, or a name that the type does not declare', () => {
    expect(pathOf(owners('a'), owners('b'))).toBe('owners[…].name');
    expect(pathOf({ owners: {} }, owners('b'))).toBe('owners[…]');
    expect(pathOf({ undeclared: { secret: 1 } }, { undeclared: { secret: 2 } })).toBe('[…][…]');
    expect(pathOf({ a: 1 }, { a: 2 }, 'Loop')).toBe('[…]');
  });

  test('is cut where it is long, and missing where there is none', () => {
    let [before, after]: [object, object] = [{ name: 'a' }, { name: 'b' }];
    for (let depth = 0; depth < 30; depth++) [before, after] = [{ next: before }, { next: after }];
    expect(pathOf(before, after, 'Item')).toBe(`${'next.'.repeat(20).slice(0, -1)}…`);
    expect(pathOf({ items: [] }, { items: [] })).toBeUndefined();
    expect(pathOf(1, 2)).toBeUndefined();
  });

  test('is missing where a text is not JSON, or is nested too deeply for the stack', () => {
    const state = { $ref: '#/types/State' };
    expect(differencePath('{', '{}', state, types as never)).toBeUndefined();
    expect(differencePath(deep('1'), deep('2'), state, types as never)).toBeUndefined();
  });

  test('is missing where a text is too long to be compared', () => {
    const state = { $ref: '#/types/State' };
    const path = (length: number) =>
      differencePath(named('a', 1), named('b', length), state, types as never);
    expect(path(100_000)).toBe('items[0].name');
    expect(path(250_000)).toBeUndefined();
  });

  test('does not take members of Object.prototype for declared names', () => {
    const state = { $ref: '#/types/State' };
    expect(differencePath('{}', '{"__proto__":1}', state, types as never)).toBe('[…]');
    expect(differencePath('{}', '{"toString":1}', state, types as never)).toBe('[…]');
  });
});
