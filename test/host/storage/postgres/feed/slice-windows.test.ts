import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { SliceOffsets } from '../../../../../host/storage/postgres/feed/slice-offsets.ts';
import { slicesAfter } from '../../../../../host/storage/postgres/feed/slice-windows.ts';

const position = (max: number) =>
  fc
    .array(fc.tuple(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 0, max })), {
      maxLength: 12,
    })
    .map((pairs) => SliceOffsets.start.with(pairs));

test('a page has as many records as its limit, or all, and each slice an equal share', () => {
  fc.assert(
    fc.property(
      position(20),
      position(60),
      fc.integer({ min: 1, max: 100 }),
      (after, end, limit) => {
        const windows = slicesAfter(after, end, limit);
        const counts = windows.map(({ count }) => count);
        const left = after.countTo(end);
        expect(counts.reduce((sum, count) => sum + count, 0)).toBe(Math.min(limit, left));
        for (const { slice, after: off, count } of windows) {
          expect(off).toBe(after.offs[slice]);
          expect(count).toBeGreaterThan(0);
          expect(off + count).toBeLessThanOrEqual(end.offs[slice]!);
        }
        const cut = windows.filter((one) => one.after + one.count < end.offs[one.slice]!);
        for (const { count } of cut) expect(Math.max(...counts) - count).toBeLessThanOrEqual(1);
      },
    ),
    { numRuns: 300 },
  );
});

test('pages that are read one after the other leave no record out, and take none twice', () => {
  fc.assert(
    fc.property(position(30), fc.integer({ min: 1, max: 9 }), (end, limit) => {
      let at = SliceOffsets.start;
      for (let page = 0; at.text !== end.text; page++) {
        expect(page).toBeLessThan(400);
        const windows = slicesAfter(at, end, limit);
        at = at.with(windows.map(({ slice, after, count }) => [slice, after + count]));
        expect(end.hasReached(at)).toBe(true);
      }
      expect(slicesAfter(at, end, limit)).toEqual([]);
    }),
  );
});

test('slices that are written all the time do not keep another one waiting', () => {
  let end = SliceOffsets.start.with([[500, 10]]);
  let at = SliceOffsets.start;
  for (let page = 0; page < 100 && at.offs[500]! < 10; page++) {
    end = end.with(Array.from({ length: 8 }, (_, slice) => [slice, end.offs[slice]! + 5] as const));
    const windows = slicesAfter(at, end, 2);
    at = at.with(windows.map(({ slice, after, count }) => [slice, after + count]));
  }
  expect(at.offs[500]).toBe(10);
});
