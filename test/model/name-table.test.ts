import { expect, test } from 'vitest';
import { NameTable } from '../../model/name-table.ts';

/** Returns a different string with the same letters, like a name in a request. */
const fresh = (name: string) => name.split('').join('');

test('a value is found by its name, again and again, and in turn with another', () => {
  const table = new NameTable([
    ['one', 1],
    ['two', 2],
  ]);
  expect(['one', 'one', 'two', 'one', 'two', 'two'].map((name) => table.get(fresh(name)))).toEqual([
    1, 1, 2, 1, 2, 2,
  ]);
});

test.each(['three', '', 'on', 'one ', 'constructor', '__proto__', 'undefined'])(
  "the name '%s', which has no value, has none before and after one that has",
  (name) => {
    const table = new NameTable([['one', 1]]);
    expect([table.get(name), table.get('one'), table.get(name), table.get('one')]).toEqual([
      undefined,
      1,
      undefined,
      1,
    ]);
  },
);

test('a value that is replaced is not found any more, even when it was found last', () => {
  const table = new NameTable<number>();
  expect(table.get('one')).toBeUndefined();
  table.set('one', 1);
  expect(table.get('one')).toBe(1);
  table.set('one', 2);
  expect(table.get('one')).toBe(2);
  table.set('two', 3);
  expect([table.get('one'), table.get('two')]).toEqual([2, 3]);
});
