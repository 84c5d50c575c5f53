// TraceRows: the tree of a trace as rows on one time axis, and the span where its failure began.
import type { Span, TraceDetail } from '@svc/contract';
import { describe, expect, test } from 'vitest';
import {
  axisLengthMs,
  causeOf,
  findSpan,
  spanCount,
  traceRows,
} from '../../../../console/page/view/trace-rows.ts';
import { TRAP } from '../../fake/traces.ts';

function span(
  spanId: string,
  offsetMs: number,
  durationMs: number,
  more: Partial<Span> = {},
): Span {
  return {
    spanId,
    parentId: null,
    kind: 'command',
    component: 'c',
    handler: spanId,
    entityId: null,
    startedAt: '2026-01-01T00:00:00.000Z',
    offsetMs,
    durationMs,
    outcome: 'Ok',
    fuel: null,
    events: 0,
    status: null,
    shard: 0,
    fault: null,
    children: [],
    ...more,
  };
}

function trace(roots: Span[], durationMs = 10): TraceDetail {
  const startedAt = '2026-01-01T00:00:00.000Z';
  return {
    traceId: '',
    startedAt,
    durationMs,
    roots,
    moreSpans: 0,
    remoteParent: null,
    silentShards: [],
  };
}

const TREE = trace([
  span('a', 0, 10, {
    children: [span('b', 2, 4, { children: [span('c', 3, 1)] }), span('d', 7, 2)],
  }),
]);
const names = (rows: readonly { span: Span }[]) => rows.map((row) => row.span.spanId).join('');

describe('the rows of a trace', () => {
  test('stand in the order of the tree, each with its level, place and length', () => {
    const rows = traceRows(TREE, new Set());
    expect(names(rows)).toBe('abcd');
    expect(rows.map((row) => row.level)).toEqual([1, 2, 3, 2]);
    expect(rows.map((row) => [row.left, row.width])).toEqual([
      [0, 100],
      [20, 40],
      [30, 10],
      [70, 20],
    ]);
    expect(rows.map((row) => `${row.position}/${row.siblings}`)).toEqual([
      '1/1',
      '1/2',
      '1/1',
      '2/2',
    ]);
    expect(rows[2]).toMatchObject({ parentId: 'b', hasChildren: false });
  });

  test('below a closed span are left out', () => {
    const rows = traceRows(TREE, new Set(['b']));
    expect(names(rows)).toBe('abd');
    expect(rows[1]).toMatchObject({ isOpen: false, hasChildren: true });
  });

  test('fit the axis when a span outlives the one that began', () => {
    const late = trace([span('a', 0, 5, { children: [span('b', 4, 16)] })], 5);
    expect(axisLengthMs(late)).toBe(20);
    expect(traceRows(late, new Set())[1]).toMatchObject({ left: 20, width: 80 });
  });

  test('of a trace without any duration have a place all the same', () => {
    const rows = traceRows(trace([span('a', 0, 0)], 0), new Set());
    expect(rows[0]).toMatchObject({ left: 0, width: 0 });
  });
});

describe('the cause of a failed trace', () => {
  const failed = { outcome: 'Failed', fault: TRAP } as const;
  const refused = { outcome: 'Refused', fault: TRAP } as const;

  test('is the deepest span that failed', () => {
    const inner = span('c', 1, 1, failed);
    const tree = trace([
      span('a', 0, 5, { ...failed, children: [span('b', 0, 3, { ...failed, children: [inner] })] }),
    ]);
    expect(causeOf(tree)?.spanId).toBe('c');
  });

  test('is no refusal while something failed, however deep', () => {
    const tree = trace([span('a', 0, 5, { ...failed, children: [span('b', 0, 3, refused)] })]);
    expect(causeOf(tree)?.spanId).toBe('a');
  });

  test('of equals is the last, and of a good trace there is none', () => {
    const tree = trace([
      span('a', 0, 5, { children: [span('b', 0, 1, refused), span('c', 2, 1, refused)] }),
    ]);
    expect(causeOf(tree)?.spanId).toBe('c');
    expect(causeOf(TREE)).toBeUndefined();
  });
});

test('spans are found and counted at any depth', () => {
  expect(findSpan(TREE, 'c')?.offsetMs).toBe(3);
  expect(findSpan(TREE, 'x')).toBeUndefined();
  expect(spanCount(TREE)).toBe(4);
});
