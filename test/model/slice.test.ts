import { expect, test } from 'vitest';
import { SLICE_COUNT, SLICE_HASH_VERSION, sliceOf } from '../../model/slice.ts';

// Journals store slices: other values are another version of the hash, which needs a migration of every journal.
test.each([
  ['counter', 'a', 931],
  ['counter', 'b', 236],
  ['shopping-cart', 'cart-17', 418],
  ['counter', '', 309],
  ['', 'counter', 975],
  ['größe', '🛒', 746],
  ['', '', 890],
] as const)('%s %s is in the same slice as ever', (component, id, slice) => {
  expect(SLICE_HASH_VERSION).toBe(1);
  expect(sliceOf(component, id)).toBe(slice);
});

test('entities are spread evenly over all slices', () => {
  const sizes = Array.from({ length: SLICE_COUNT }, () => 0);
  const perSlice = 100;
  for (let i = 0; i < SLICE_COUNT * perSlice; i++) sizes[sliceOf('counter', `c${i}`)]! += 1;
  expect(Math.min(...sizes)).toBeGreaterThan(perSlice / 2);
  expect(Math.max(...sizes)).toBeLessThan(perSlice * 2);
});
