import { expect, test } from 'vitest';
import {
  KIND_DELETED,
  KIND_EVENT,
  kindNumberOf,
  kindOf,
} from '../../../../host/storage/sqlite/record-kind.ts';

test.each([
  ['an event', KIND_EVENT, 'E', '{}', 'event'],
  ['a deletion', KIND_DELETED, null, null, 'deleted'],
  ['an event without a manifest', KIND_EVENT, null, '{}', undefined],
  ['an event without JSON text', KIND_EVENT, 'E', null, undefined],
  ['an event without either', KIND_EVENT, null, null, undefined],
  ['a deletion with a manifest', KIND_DELETED, 'E', null, undefined],
  ['a deletion with JSON text', KIND_DELETED, null, '{}', undefined],
  ['a kind that no version has', 2, null, null, undefined],
])('the kind of %s', (_, kind, manifest, json, expected) => {
  expect(kindOf(kind, manifest, json)).toBe(expected);
});

test('each kind is stored as a number that is read as that kind', () => {
  expect(kindOf(kindNumberOf('event'), 'E', '{}')).toBe('event');
  expect(kindOf(kindNumberOf('deleted'), null, null)).toBe('deleted');
});
