import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  POSITION_UNITS_MAX,
  SliceOffsets,
} from '../../../../../host/storage/postgres/feed/slice-offsets.ts';
import { SLICE_COUNT } from '../../../../../model/slice.ts';

const slice = fc.integer({ min: 0, max: SLICE_COUNT - 1 });
const off = fc.oneof(fc.integer({ min: 0, max: 40 }), fc.maxSafeNat());
/** Positions with few slices, with runs of slices, and with all. */
const position = fc
  .oneof(
    fc.array(fc.tuple(slice, off), { maxLength: 8 }),
    fc
      .tuple(slice, fc.array(off, { maxLength: 80 }))
      .map(([first, offs]) => offs.map((each, at) => [(first + at) % SLICE_COUNT, each] as const)),
    fc
      .array(off, { minLength: SLICE_COUNT, maxLength: SLICE_COUNT })
      .map((offs) => [...offs.entries()]),
  )
  .map((pairs) => SliceOffsets.start.with(pairs));
/** Positions near one another, of which many have reached others. */
const nearby = fc
  .array(fc.tuple(fc.constantFrom(0, 1, 31, 32, 1023), fc.integer({ min: 0, max: 2 })), {
    maxLength: 5,
  })
  .map((pairs) => SliceOffsets.start.with(pairs));

describe('the text of a position', () => {
  test('stands for the numbers that it was made of, and no other text does', () => {
    fc.assert(
      fc.property(position, (made) => {
        expect(made.text).toMatch(/^[0-9a-z:.]+$/);
        expect(made.text.length).toBeLessThanOrEqual(POSITION_UNITS_MAX);
        const parsed = SliceOffsets.parse(made.text)!;
        expect(parsed.offs).toEqual(made.offs);
        expect(parsed.text).toBe(made.text);
      }),
      { numRuns: 100 },
    );
  });

  test('is the same, whatever the order in which its numbers were reached', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(slice, off), { maxLength: 40 }), (steps) => {
        const last = [...new Map(steps)];
        const stepped = steps.reduce((at, step) => at.with([step]), SliceOffsets.start);
        expect(stepped.text).toBe(SliceOffsets.start.with(last.toReversed()).text);
      }),
    );
  });

  test('is canonical: whatever text is taken is the text of its numbers', () => {
    expect.hasAssertions();
    const texts = fc.string({
      unit: fc.constantFrom('0', '1', '2', 'a', 'z', 'A', ':', '.', '-', ' ', '１'),
      maxLength: 12,
    });
    fc.assert(
      fc.property(texts, (text) => {
        expect([undefined, text]).toContain(SliceOffsets.parse(text)?.text);
      }),
      { numRuns: 1_500 },
    );
  });

  test.each([
    ['0', []],
    ['0:1', [[0, 1]]],
    [
      '0:5.7.c:4',
      [
        [0, 5],
        [1, 7],
        [12, 4],
      ],
    ],
    [
      'v:1.w:1.2',
      [
        [31, 1],
        [32, 1],
        [33, 2],
      ],
    ],
    ['sf:2gosa7pa2gv', [[1023, Number.MAX_SAFE_INTEGER]]],
  ] as const)('%s names the records that it says', (text, pairs) => {
    expect(SliceOffsets.parse(text)?.offs).toEqual(SliceOffsets.start.with(pairs).offs);
    expect(SliceOffsets.start.with(pairs).text).toBe(text);
  });

  test.each([
    ['a slice at 0', '0:0'],
    ['a leading zero', '0:01'],
    ['a leading zero of a slice', '00:1'],
    ['a slice that is named although it follows', '0:1.1:1'],
    ['a slice that is not named at the beginning of a block', 'v:1.1'],
    ['slices out of order', '2:1.1:1'],
    ['a slice twice', '1:1.1:1'],
    ['a slice beyond the last', 'sg:1'],
    ['a slice after the last', 'sf:1.1'],
    ['a number that is not safe', '0:2gosa7pa2gw'],
    ['two colons', '0:1:1'],
    ['no number', '0:'],
    ['no slice', ':1'],
    ['a dot at the end', '0:1.'],
    ['a dot at the beginning', '.0:1'],
    ['capital letters', '0:A'],
    ['a number alone', '1'],
    ['nothing', ''],
  ])('is not taken with %s', (_, text) => {
    expect(SliceOffsets.parse(text)).toBeUndefined();
  });

  test('is not taken when it is longer than any position', () => {
    expect(SliceOffsets.parse(`0:${'1.'.repeat(1_000_000)}`)).toBeUndefined();
    const longest = SliceOffsets.start.with(
      Array.from({ length: SLICE_COUNT }, (_, at) => [at, Number.MAX_SAFE_INTEGER] as const),
    );
    expect(longest.text.length).toBeLessThanOrEqual(POSITION_UNITS_MAX);
  });
});

describe('positions', () => {
  test('are ordered in part', () => {
    fc.assert(
      fc.property(nearby, nearby, nearby, (a, b, c) => {
        expect(a.hasReached(a)).toBe(true);
        expect(a.hasReached(SliceOffsets.start)).toBe(true);
        expect(a.hasReached(b) && b.hasReached(a)).toBe(a.text === b.text);
        expect(a.hasReached(b) && b.hasReached(c) && !a.hasReached(c)).toBe(false);
      }),
      { numRuns: 500 },
    );
  });

  test('count the records between them, and the counts add up', () => {
    fc.assert(
      fc.property(nearby, nearby, nearby, (from, more, most) => {
        const middle = later(from, more);
        const to = later(middle, most);
        expect(from.countTo(middle) + middle.countTo(to)).toBe(from.countTo(to));
        expect(to.countTo(from)).toBe(0);
        expect(from.countTo(to) === 0).toBe(from.text === to.text);
      }),
      { numRuns: 500 },
    );
  });

  test('do not change when others are made of them', () => {
    const one = SliceOffsets.start.with([[3, 7]]);
    expect(
      one.with([
        [3, 8],
        [40, 1],
      ]).text,
    ).toBe('3:8.14:1');
    expect(one.text).toBe('3:7');
    expect(SliceOffsets.start.text).toBe('0');
    expect(one.with([[3, 0]]).text).toBe('0');
  });
});

/** A position that has reached both. */
function later(a: SliceOffsets, b: SliceOffsets): SliceOffsets {
  return a.with(Array.from(a.offs, (each, at) => [at, each + b.offs[at]!] as const));
}
