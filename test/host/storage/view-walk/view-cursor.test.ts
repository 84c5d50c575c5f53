// Cursors beyond what the suite of stores can make.
import { expect, test } from 'vitest';
import { cursorAt, positionOf } from '../../../../host/storage/view-walk/view-cursor.ts';
import { walkOf } from '../../../../host/storage/view-walk/walk.ts';
import {
  DEFINITION,
  indexOn,
  planned,
  viewOf,
} from '../../../suites/view-store/views-under-test.ts';

const view = viewOf(indexOn(['t', 'text'], ['n', 'number'], ['d', 'decimal'], ['u', 'uint64']));

test('a cursor gives back the position that it was made of', () => {
  const walk = walkOf(view, planned({}));
  for (const position of [
    ['text', 0.1, '250112', 5n, 'key'],
    [-Infinity, -Infinity, -Infinity, -Infinity, ''],
    ['\0"\u{1F600}', -1.5e300, '1', -(2n ** 63n), '\u{10FFFF}'],
  ])
    expect(positionOf(DEFINITION, walk, cursorAt(DEFINITION, walk, position))).toEqual(position);
});

test('the longest cursor is one that can be used', () => {
  const texts = viewOf(indexOn(['a', 'text'], ['b', 'text'], ['c', 'text'], ['d', 'text']));
  const walk = walkOf(texts, planned({}));
  const position = Array.from({ length: 5 }, () => '\u0001'.repeat(8 * 1024));
  expect(positionOf(DEFINITION, walk, cursorAt(DEFINITION, walk, position))).toEqual(position);
});

test('a cursor of a query that has one row at most is refused', () => {
  const walk = walkOf(view, planned({ index: 'key', equals: ['key'] }, { key: 'a' }));
  expect(() => positionOf(DEFINITION, walk, cursorAt(DEFINITION, walk, []))).toThrow(
    expect.objectContaining({ code: 'SVC_CURSOR_INVALID' }),
  );
});
