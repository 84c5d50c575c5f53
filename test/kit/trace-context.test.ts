import { describe, expect, test } from 'vitest';
import {
  childMetadata,
  childTraceParent,
  newSpanId,
  newTraceParent,
  parseTraceParent,
  spanIdText,
  traceIdOf,
  traceIdText,
  traceParentOf,
  traceParentText,
} from '../../kit/trace-context.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const parentId = 'b7ad6b7169203331';
const valid = `00-${traceId}-${parentId}-01`;
const random = { next64: () => 0xfedcba9876543210n };
const parent = parseTraceParent(valid)!;

/** What was read of it, as texts. */
function partsOf(value: string) {
  const read = parseTraceParent(value);
  return (
    read && {
      traceId: traceIdText(read.trace),
      parentId: spanIdText(read.spanId),
      flags: read.flags,
    }
  );
}

describe('a traceparent', () => {
  test('is read in its parts', () => {
    expect(partsOf(valid)).toEqual({ traceId, parentId, flags: 1 });
  });

  test.each([
    ['of a later version', `cc-${traceId}-${parentId}-01`],
    ['of a later version with more fields', `cc-${traceId}-${parentId}-01-more`],
  ])('%s is read as far as it is known', (_, value) => {
    expect(partsOf(value)).toEqual({ traceId, parentId, flags: 1 });
  });

  test.each([
    ['nothing', ''],
    ['the forbidden version', `ff-${traceId}-${parentId}-01`],
    ['a trace id of zeros', `00-${'0'.repeat(32)}-${parentId}-01`],
    ['a parent id of zeros', `00-${traceId}-${'0'.repeat(16)}-01`],
    ['upper case', valid.toUpperCase()],
    ['a letter that is no digit', valid.replace('a', 'g')],
    ['a character too few', valid.slice(0, -1)],
    ['a character too many', `${valid}0`],
    ['more fields in this version', `${valid}-00`],
    ['more without a dash in a later version', `cc-${traceId}-${parentId}-01.`],
    ['other separators', valid.replaceAll('-', '_')],
    ['flags that are no number', `00-${traceId}-${parentId}-0x`],
    ['a sign', `00-${traceId}-${parentId}-+1`],
    ['space around it', ` ${valid} `],
    ['a full-width digit', valid.replace('1', '１')],
  ])('with %s is not valid', (_, value) => {
    expect(parseTraceParent(value)).toBeUndefined();
  });

  test('keeps every digit of its ids, and is written as it was read', () => {
    const ids = [
      '0000000000000000000000000000000f',
      'f'.repeat(32),
      '80000000000000007fffffff80000001',
    ];
    for (const id of ids)
      for (const spanId of ['000000000000000f', 'fedcba9876543210', '8000000000000000']) {
        const value = `00-${id}-${spanId}-00`;
        expect(partsOf(value)).toEqual({ traceId: id, parentId: spanId, flags: 0 });
        expect(traceParentText(parseTraceParent(value)!)).toBe(value);
      }
  });

  test("of a child has the trace's id and a parent id of its own", () => {
    const child = childTraceParent(parent, { next64: () => 0x1fn });
    expect(traceParentText(child)).toBe(`00-${traceId}-000000000000001f-01`);
  });

  test('has its own trace, whatever was written before', () => {
    const other = parseTraceParent(`00-${'f'.repeat(32)}-${parentId}-00`)!;
    const fresh = newTraceParent(random);
    for (const each of [parent, other, other, fresh, parent]) {
      const { high, low } = each.trace;
      const digits = [high, low].map((half) => half.toString(16).padStart(16, '0')).join('');
      expect(traceParentText(each).split('-')[1]).toBe(digits);
      expect(traceIdText({ high: 1n, low: 2n })).toBe('00000000000000010000000000000002');
      expect(traceParentText(each).split('-')[1]).toBe(digits);
    }
  });

  test('passes on the flags that have a meaning, and no others', () => {
    expect(parseTraceParent(`00-${traceId}-${parentId}-ff`)?.flags).toBe(3);
  });
});

describe('a new traceparent', () => {
  test('has the ids that were drawn, is sampled, and is read as it was made', () => {
    let next = 0x1fn;
    const made = newTraceParent({ next64: () => next++ });
    const text = traceParentText(made);
    expect(text).toBe('00-000000000000001f0000000000000020-0000000000000021-01');
    expect(parseTraceParent(text)).toBe(made);
    // And the same when another was read in between.
    expect(partsOf(valid)).toEqual({ traceId, parentId, flags: 1 });
    expect(parseTraceParent(text)).toEqual(made);
  });

  test('is valid when chance draws nothing but zeros', () => {
    const made = traceParentText(newTraceParent({ next64: () => 0n }));
    parseTraceParent(valid);
    expect(parseTraceParent(made)).toBeDefined();
    const child = traceParentText(childTraceParent(parent, { next64: () => 0n }));
    parseTraceParent(valid);
    expect(parseTraceParent(child)).toBeDefined();
  });
});

test('what was read last is not taken for what is read next', () => {
  for (let turn = 0; turn < 2; turn++) {
    expect(parseTraceParent('')).toBeUndefined();
    expect(partsOf(valid)).toEqual({ traceId, parentId, flags: 1 });
    expect(partsOf(valid)).toEqual({ traceId, parentId, flags: 1 });
    expect(parseTraceParent(`${valid}x`)).toBeUndefined();
    expect(partsOf(valid.replace(/1$/, '0'))).toEqual({ traceId, parentId, flags: 0 });
  }
});

test.each([
  [0n, '0000000000000001'],
  [1n, '0000000000000001'],
  [0xfedcba9876543210n, 'fedcba9876543210'],
  [0x00ff00aa09900001n, '00ff00aa09900001'],
  [2n ** 64n - 1n, 'ffffffffffffffff'],
])('the span id of the random bits %s is %s', (bits, id) => {
  expect(spanIdText(newSpanId({ next64: () => bits }))).toBe(id);
});

describe('the metadata of a call', () => {
  test('that has none stays empty', () => {
    expect(childMetadata([], undefined)).toEqual([]);
  });

  test('belongs to the same trace and keeps the rest', () => {
    expect(
      childMetadata(
        [
          ['traceparent', valid],
          ['tracestate', 'a=1'],
          ['other', 'x'],
        ],
        childTraceParent(parent, random),
      ),
    ).toEqual([
      ['traceparent', `00-${traceId}-fedcba9876543210-01`],
      ['tracestate', 'a=1'],
      ['other', 'x'],
    ]);
  });

  test.each([
    ['is not valid', [['traceparent', 'nonsense']]],
    [
      'is there twice',
      [
        ['traceparent', valid],
        ['traceparent', valid],
      ],
    ],
    ['is missing', []],
  ] as const)('loses its trace, the state with it, when the traceparent %s', (_, entries) => {
    const metadata = [...entries, ['tracestate', 'a=1'], ['other', 'x']] as const;
    expect(traceParentOf(metadata)).toBeUndefined();
    expect(traceIdOf(metadata)).toBeUndefined();
    expect(childMetadata(metadata, undefined)).toEqual([['other', 'x']]);
  });

  test('tells where it stands', () => {
    const metadata = [
      ['other', 'x'],
      ['traceparent', valid],
    ] as const;
    expect(traceParentOf(metadata)).toEqual(parent);
    expect(traceIdOf(metadata)).toBe(traceId);
  });
});
