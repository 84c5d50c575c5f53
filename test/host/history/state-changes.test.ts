// StateChanges: every difference of two states, by its path.
import { describe, expect, test } from 'vitest';
import { stateChanges } from '../../../host/history/state-changes.ts';

function changes(before: unknown, after: unknown) {
  return stateChanges(JSON.stringify(before), JSON.stringify(after)).changes.map(
    (change) => [change.path, change.before, change.after] as const,
  );
}

const list = (value: number) => Array.from({ length: 130 }, () => value);
const nested = (inner: string, depth: number) => '['.repeat(depth) + inner + ']'.repeat(depth);

describe('between two states', () => {
  test.each([
    [{ a: 1 }, { a: 1 }, []],
    [{ a: 1 }, { a: 2 }, [['a', '1', '2']]],
    [{ a: 1 }, {}, [['a', '1', undefined]]],
    [{}, { a: null }, [['a', undefined, 'null']]],
    [
      { a: [1, { b: 2 }] },
      { a: [1, { b: 3 }, 4] },
      [
        ['a[1].b', '2', '3'],
        ['a[2]', undefined, '4'],
      ],
    ],
    [{ 'a b': { c: 1 } }, { 'a b': { c: [] } }, [['["a b"].c', '1', '[]']]],
    [{ x: { '': 1 } }, { x: { '': 2 } }, [['x[""]', '1', '2']]],
    [[], {}, [['', '[]', '{}']]],
    [1, null, [['', '1', 'null']]],
  ])('%j and %j', (before, after, expected) => {
    expect(changes(before, after)).toEqual(expected);
  });

  test('a hundred are listed, and the others counted', () => {
    const found = stateChanges(JSON.stringify(list(1)), JSON.stringify(list(2)));
    expect(found.changes).toHaveLength(100);
    expect(found.moreCount).toBe(30);
  });

  test('what differs as text alone is one change, of the whole state', () => {
    expect(changes({ a: 1, b: 2 }, { b: 2, a: 1 })).toEqual([
      ['', '{"a":1,"b":2}', '{"b":2,"a":1}'],
    ]);
    expect(stateChanges('12345678901234567890', '12345678901234567891').changes).toHaveLength(1);
    expect(stateChanges('no JSON', '{}').changes).toEqual([
      { path: '', before: 'no JSON', after: '{}' },
    ]);
  });

  test('nesting deeper than a stack is no failure', () => {
    expect(stateChanges(nested('1', 200_000), nested('2', 200_000)).changes).toHaveLength(1);
    expect(stateChanges(nested('1', 300), nested('2', 300)).changes).toHaveLength(1);
  });
});
