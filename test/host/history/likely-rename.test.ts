// LikelyRename: which name is suggested, and how many names are compared.
import { expect, test } from 'vitest';
import { COMPARED_NAMES_MAX, likelyRename } from '../../../host/history/likely-rename.ts';
import { renamedInEvent } from '../../../host/history/missing-field.ts';

const names = (count: number, begin = 'field') =>
  Array.from({ length: count }, (_, index) => `${begin}${index}`);
const none = () => false;

test('the nearest of those that are alike, then the only one, then the nearest of the others', () => {
  const added = ['fees', 'feed', 'other'];
  expect(likelyRename('fee', added, (name) => name === 'feed')).toBe('feed');
  expect(likelyRename('fee', added, (name) => name === 'other')).toBe('other');
  expect(likelyRename('fee', added, none)).toBe('fees');
  expect(likelyRename('nothing', added, none)).toBeUndefined();
});

test('none among more names than are compared, and none of them is looked at', () => {
  const asked: string[] = [];
  const note = (name: string) => asked.push(name) > 0;
  expect(likelyRename('field', names(COMPARED_NAMES_MAX), note)).toBe('field0');
  expect(asked).toHaveLength(COMPARED_NAMES_MAX);
  expect(likelyRename('field', names(COMPARED_NAMES_MAX + 1), note)).toBeUndefined();
  expect(asked).toHaveLength(COMPARED_NAMES_MAX);
});

test('a name that is too long to compare is likely only when it is the only one that is alike', () => {
  const long = 'x'.repeat(101);
  expect(likelyRename(long.slice(1), [long], none)).toBeUndefined();
  expect(likelyRename(long, [long.slice(1)], none)).toBeUndefined();
  expect(likelyRename(long, [long.slice(1)], () => true)).toBe(long.slice(1));
});

test('an event with thousands of unknown names is not searched for a renamed field', () => {
  const type = { type: 'object', properties: { fee: { type: 'string' } }, required: ['fee'] };
  const renamed = (unknown: readonly string[]) =>
    renamedInEvent(
      JSON.stringify(Object.fromEntries(unknown.map((name) => [name, 'x']))),
      type as never,
      {},
    );
  expect(renamed(['fees'])).toBe('fees');
  expect(renamed([...names(5_000), 'fees'])).toBeUndefined();
});
