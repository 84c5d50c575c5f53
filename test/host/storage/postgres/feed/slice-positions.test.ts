import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { SliceHeads } from '../../../../../host/storage/postgres/feed/slice-heads.ts';
import { SliceOffsets } from '../../../../../host/storage/postgres/feed/slice-offsets.ts';
import { SlicePositions } from '../../../../../host/storage/postgres/feed/slice-positions.ts';
import { sliceOf } from '../../../../../model/slice.ts';

function positionsOf(...pairs: readonly (readonly [number, number])[]) {
  const heads = new SliceHeads();
  heads.advance(pairs);
  return { heads, positions: new SlicePositions(heads) };
}

test('the end names every slice that has records', () => {
  const { heads, positions } = positionsOf();
  expect(positions.end()).toBe(positions.start);
  heads.advance([
    [0, 12],
    [1, 1],
  ]);
  expect(positions.end()).toBe('0:c.1');
});

test('the end of entities names their slices, and those before which it is not', () => {
  const cart = { component: 'Cart', id: 'one' };
  const empty = { component: 'Cart', id: 'nobody' };
  const slice = sliceOf(cart.component, cart.id);
  const { positions } = positionsOf([slice, 5], [(slice + 1) % 1024, 9]);
  const token = positions.endOf([cart, cart, empty], positions.start);
  expect(token).toBe(`${slice.toString(36)}:5`);
  expect(positions.hasReached(positions.end(), token)).toBe(true);
  expect(positions.hasReached(token, positions.end())).toBe(false);
  expect(positions.endOf([], positions.start)).toBe(positions.start);
  const other = `${((slice + 1) % 1024).toString(36)}:2`;
  const both = positions.endOf([cart], other);
  expect(positions.hasReached(both, token) && positions.hasReached(both, other)).toBe(true);
  expect(positions.hasReached(both, positions.end())).toBe(false);
  expect(positions.endOf([cart], `${slice.toString(36)}:6`)).toBe(`${slice.toString(36)}:6`);
});

test('positions are compared slice by slice', () => {
  const { positions } = positionsOf();
  expect(positions.hasReached('0:5', '0:5')).toBe(true);
  expect(positions.hasReached('0:5.1', '0:4')).toBe(true);
  expect(positions.hasReached('0:5', '1:1')).toBe(false);
  expect(positions.count('0:5', '0:7.3')).toBe(5);
  expect(positions.count('0:5', '1:3')).toBe(3);
  expect(positions.count('0:5.3', '0')).toBe(0);
});

test('a text that is no position is no position, also after positions were used', () => {
  const { positions } = positionsOf([0, 1]);
  for (const text of ['', '1', '0:01', 'start', '__proto__', '0:1,1:1'])
    expect(positions.parse(text)).toBeUndefined();
  expect(() => positions.count('0', 'no position')).toThrow(RangeError);
});

test('positions that are kept are the ones that are parsed, however many there were', () => {
  const { positions } = positionsOf();
  const pair = fc.tuple(fc.integer({ min: 0, max: 1023 }), fc.integer({ min: 1, max: 5 }));
  const all = fc
    .sample(fc.array(pair, { maxLength: 3 }), 200)
    .map((pairs) => SliceOffsets.start.with(pairs));
  for (const from of all)
    for (const to of [from, ...all.slice(0, 2)]) {
      expect(positions.parse(from.text)).toBe(from.text);
      expect(positions.hasReached(from.text, to.text)).toBe(from.hasReached(to));
      expect(positions.count(from.text, to.text)).toBe(from.countTo(to));
    }
});
