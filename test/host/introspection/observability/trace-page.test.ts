// TracePage: which traces match a filter, and where each page begins.
import { describe, expect, test } from 'vitest';
import type { TraceFilter } from '../../../../host/introspection/observability/observed-service.ts';
import type { RecordedSpan } from '../../../../host/shards/recorder/recorded-span.ts';
import {
  type TraceWithCursor,
  tracePage,
} from '../../../../host/introspection/observability/trace-page.ts';
import { traceSummaries } from '../../../../host/introspection/observability/trace-tree.ts';

const FAULT = {
  code: 'trap',
  limit: undefined,
  reason: 'It trapped.',
  guestMessage: 'Abort: OH NO',
  frames: undefined,
  errorId: undefined,
};
const EVERYTHING: TraceFilter = {
  limit: 100,
  component: undefined,
  outcomes: undefined,
  minDurationMs: 0,
  text: undefined,
  after: undefined,
};

let number = 0;
const span = (trace: number, more: Partial<RecordedSpan> = {}): RecordedSpan => ({
  number: ++number,
  shard: 0,
  kind: 'endpoint',
  component: 'Counters',
  handler: 'add',
  entityId: undefined,
  traceId: trace.toString(16).padStart(32, '0'),
  spanId: String(number).padStart(16, '0'),
  parentId: undefined,
  traceState: undefined,
  isSampled: true,
  startMs: 1_000 + trace,
  durationMs: 1,
  outcome: 'Ok',
  fuel: 0,
  events: 0,
  status: 200,
  fault: undefined,
  ...more,
});

function page(spans: readonly RecordedSpan[], filter: Partial<TraceFilter> = {}) {
  const newestFirst = traceSummaries(spans, () => 'POST /counters/{id}')
    .map((trace): TraceWithCursor => ({ trace, cursor: trace.startedAt + trace.traceId }))
    .toSorted((a, b) => (a.cursor < b.cursor ? 1 : -1));
  const found = tracePage(spans, newestFirst, { ...EVERYTHING, ...filter });
  return { ...found, numbers: found.traces.map(({ traceId }) => Number.parseInt(traceId, 16)) };
}

const many = (count: number) => Array.from({ length: count }, (_, at) => span(at + 1));

describe('a page of traces', () => {
  test('leads on to the oldest trace, and back to the newest', () => {
    const spans = many(401);
    const seen: number[] = [];
    let after: string | null = null;
    const pages: (string | null)[] = [];
    do {
      pages.push(after);
      const found: ReturnType<typeof page> = page(spans, { after: after ?? undefined });
      expect([found.total, found.newer]).toEqual([401, seen.length]);
      seen.push(...found.numbers);
      after = found.next;
    } while (after !== null);
    expect(seen).toEqual(Array.from({ length: 401 }, (_, at) => 401 - at));
    // The last page has one trace only.
    expect(pages).toHaveLength(5);
    const back = pages.map((cursor) => page(spans, { after: cursor ?? undefined }).previous);
    expect(back.slice(1)).toEqual(pages.slice(0, -1));
    expect(back[0]).toBeNull();
  });

  test('stays where it is while newer traces come and older ones go', () => {
    const spans = many(30);
    const { next } = page(spans, { limit: 10 });
    const second = page(spans, { limit: 10, after: next! });
    const later = [...spans.slice(5), ...Array.from({ length: 20 }, (_, at) => span(31 + at))];
    const again = page(later, { limit: 10, after: next! });
    expect(again.numbers).toEqual(second.numbers);
    expect([second.newer, again.newer]).toEqual([10, 30]);
  });

  test('after the end of the window is empty, and leads back', () => {
    const spans = many(30);
    const { next } = page(spans, { limit: 25 });
    const gone = page(spans.slice(-20), { limit: 10, after: next! });
    expect(gone).toMatchObject({ traces: [], total: 20, newer: 20, next: null });
    expect(page(spans.slice(-20), { limit: 10, after: gone.previous! }).numbers).toEqual(
      Array.from({ length: 10 }, (_, at) => 20 - at),
    );
  });
});

describe('a text', () => {
  const spans = [
    ...many(400),
    span(1, { kind: 'command', component: 'counter', handler: 'raise', entityId: 'Table-7' }),
    span(1, { kind: 'command', component: 'counter', handler: 'raise', entityId: 'table-8' }),
    span(2, { kind: 'command', component: 'counter', entityId: 'b', fault: FAULT }),
  ];

  test.each([
    ['the entity of a later call', 'TABLE-8', [1]],
    ['a handler that a request called', 'counter.raise', [1]],
    ["the runtime's reason", 'trapped', [2]],
    ["the module's own words", 'oh no', [2]],
    ['a trace id', (3).toString(16).padStart(32, '0'), [3]],
    ['nothing', 'table-9', []],
  ])('finds %s, however old the trace is', (_, text, numbers) => {
    expect(page(spans, { text, limit: 10 })).toMatchObject({ numbers, total: numbers.length });
  });

  test('finds the name of a trace, and blanks around it do not matter', () => {
    expect(page(spans, { text: ' /Counters ' }).total).toBe(400);
  });

  test('and the other filters both count', () => {
    expect(page(spans, { text: 'table', outcomes: new Set(['Failed']) }).total).toBe(0);
    expect(page(spans, { text: 'table', component: 'counter', minDurationMs: 0.5 }).total).toBe(1);
  });
});
