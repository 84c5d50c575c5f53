import { describe, expect, test } from 'vitest';
import {
  childMetadata,
  childTraceParent,
  newTraceParent,
  parseTraceParent,
  spanIdOf,
} from '../../../host/model/trace-context.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const parentId = 'b7ad6b7169203331';
const valid = `00-${traceId}-${parentId}-01`;
const chance = { seed: () => 0xfedcba9876543210n };

describe('a traceparent', () => {
  test('is read in its parts', () => {
    expect(parseTraceParent(valid)).toEqual({ traceId, parentId, flags: 1 });
  });

  test.each([
    ['of a later version', `cc-${traceId}-${parentId}-01`],
    ['of a later version with more fields', `cc-${traceId}-${parentId}-01-more`],
  ])('%s is read as far as it is known', (_, value) => {
    expect(parseTraceParent(value)).toEqual({ traceId, parentId, flags: 1 });
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

  test("of a child has the trace's id and a parent id of its own", () => {
    expect(childTraceParent({ traceId, parentId, flags: 1 }, 0x1fn)).toBe(
      `00-${traceId}-000000000000001f-01`,
    );
  });

  test('of a child has its own trace, whichever was written before', () => {
    const other = 'f'.repeat(32);
    const spanId = '000000000000001f';
    newTraceParent(chance);
    for (const id of [traceId, other, other, traceId])
      expect(childTraceParent({ traceId: id, parentId, flags: 1 }, 0x1fn)).toBe(
        `00-${id}-${spanId}-01`,
      );
    const [, newId] = newTraceParent(chance).split('-');
    expect(childTraceParent({ traceId: newId!, parentId, flags: 0 }, 0x1fn)).toBe(
      `00-${newId}-${spanId}-00`,
    );
    expect(childTraceParent({ traceId, parentId, flags: 0 }, 0x1fn)).toBe(
      `00-${traceId}-${spanId}-00`,
    );
  });

  test('of a child never has the invalid parent id', () => {
    expect(childTraceParent({ traceId, parentId, flags: 0 }, 0n)).toBe(
      `00-${traceId}-0000000000000001-00`,
    );
  });

  test('passes on the flags that have a meaning, and no others', () => {
    expect(parseTraceParent(`00-${traceId}-${parentId}-ff`)?.flags).toBe(3);
  });
});

describe('a new traceparent', () => {
  test('has the ids that were drawn, is sampled, and is read as it was made', () => {
    let seed = 0x1fn;
    const made = newTraceParent({ seed: () => seed++ });
    expect(made).toBe('00-000000000000001f0000000000000020-0000000000000021-01');
    const parts = {
      traceId: '000000000000001f0000000000000020',
      parentId: '0000000000000021',
      flags: 1,
    };
    expect(parseTraceParent(made)).toEqual(parts);
    // And the same when another was read in between.
    expect(parseTraceParent(valid)).toEqual({ traceId, parentId, flags: 1 });
    expect(parseTraceParent(made)).toEqual(parts);
  });

  test('is valid when chance draws nothing but zeros', () => {
    expect(parseTraceParent(newTraceParent({ seed: () => 0n }))).toBeDefined();
  });
});

test('what was read last is not taken for what is read next', () => {
  for (let turn = 0; turn < 2; turn++) {
    expect(parseTraceParent('')).toBeUndefined();
    expect(parseTraceParent(valid)).toEqual({ traceId, parentId, flags: 1 });
    expect(parseTraceParent(valid)).toEqual({ traceId, parentId, flags: 1 });
    expect(parseTraceParent(`${valid}x`)).toBeUndefined();
    expect(parseTraceParent(valid.replace(/1$/, '0'))).toEqual({ traceId, parentId, flags: 0 });
  }
});

test.each([
  [0n, '0000000000000001'],
  [1n, '0000000000000001'],
  [0xfedcba9876543210n, 'fedcba9876543210'],
  [0x00ff00aa09900001n, '00ff00aa09900001'],
  [2n ** 64n - 1n, 'ffffffffffffffff'],
])('the span id of the seed %s is %s', (seed, id) => {
  expect(spanIdOf(seed)).toBe(id);
});

describe('the metadata of a call', () => {
  test('that has none stays empty', () => {
    expect(childMetadata([], chance)).toEqual([]);
  });

  test('belongs to the same trace and keeps the rest', () => {
    expect(
      childMetadata(
        [
          ['traceparent', valid],
          ['tracestate', 'a=1'],
          ['other', 'x'],
        ],
        chance,
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
    expect(childMetadata([...entries, ['tracestate', 'a=1'], ['other', 'x']], chance)).toEqual([
      ['other', 'x'],
    ]);
  });
});
