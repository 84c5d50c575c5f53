import { expect, test } from 'vitest';
import { SLICE_COUNT, sliceOf } from '../../../model/slice.ts';
import { HashOwnership, shardOf, slicesOf } from '../../../host/shards/hash-ownership.ts';

const ids = (make: (index: number) => string) => Array.from({ length: 10_000 }, (_, i) => make(i));

test.each([
  ['counter', 'a', [1, 2, 14]],
  ['counter', 'b', [0, 0, 3]],
  ['shopping-cart', 'cart-17', [0, 1, 6]],
  ['counter', '', [0, 0, 4]],
  ['', 'counter', [1, 2, 15]],
  ['größe', '🛒', [1, 2, 11]],
] as const)('%s %s belongs to the same shard as ever', (component, id, shards) => {
  expect([2, 3, 16].map((count) => new HashOwnership(count).ownerOf(component, id))).toEqual(
    shards,
  );
});

test('one shard owns every entity', () => {
  expect(new Set(ids((i) => `c${i}`).map((id) => shardOf('counter', id, 1)))).toEqual(new Set([0]));
});

test.each([
  ['numbered', (i: number) => `c${i}`],
  ['even', (i: number) => `${i * 2}`],
  ['padded', (i: number) => String(i).padStart(40, '0')],
  ['doubled', (i: number) => `${i}${i}`],
  ['with a zero after each character', (i: number) => String(i).split('').join('0')],
] as const)('entities with ids that are %s are spread evenly', (_form, make) => {
  for (const count of [2, 3, 8]) {
    const sizes = Array.from({ length: count }, () => 0);
    for (const id of ids(make)) sizes[shardOf('counter', id, count)]! += 1;
    expect(Math.min(...sizes)).toBeGreaterThan((10_000 / count) * 0.9);
    expect(Math.max(...sizes)).toBeLessThan((10_000 / count) * 1.1);
  }
});

test('where the component ends and the id begins makes a difference', () => {
  const same = ids((i) => `c${i}`).filter(
    (id) => shardOf('a', `b${id}`, 256) === shardOf('ab', id, 256),
  );
  expect(same.length).toBeLessThan(100);
});

test.each([1, 2, 3, 7, 1_024])('the slices of %i shards are all slices, each once', (count) => {
  const slices = Array.from({ length: count }, (_, index) => slicesOf(index, count));
  const all = slices.flatMap(({ first, count: length }) =>
    Array.from({ length }, (_, at) => first + at),
  );
  expect(all).toEqual(Array.from({ length: SLICE_COUNT }, (_, slice) => slice));
});

test('an entity belongs to the shard that owns its slice', () => {
  for (const id of ids((i) => `c${i}`)) {
    const slice = sliceOf('counter', id);
    const { first, count } = slicesOf(shardOf('counter', id, 3), 3);
    expect(slice >= first && slice < first + count).toBe(true);
  }
});
