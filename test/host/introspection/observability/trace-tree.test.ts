// TraceTree: spans of all shards as a tree, and a summary of each trace. Ids come from callers and modules.
import { describe, expect, test } from 'vitest';
import type { ServiceRoute, Span } from '@svc/contract';
import type { RecordedSpan } from '../../../../host/shards/recorder/recorded-span.ts';
import {
  faultOf,
  SPANS_SHOWN_MAX,
  spanName,
  traceSummaries,
  traceTree,
} from '../../../../host/introspection/observability/trace-tree.ts';

const START_MS = Date.UTC(2026, 10, 22, 1, 2, 3, 456);
const FAULT = {
  code: 'trap',
  limit: undefined,
  reason: 'It trapped.',
  guestMessage: 'abort: oh no',
  frames: undefined,
  errorId: 'e'.repeat(16),
};

let number = 0;
const span = (spanId: string, more: Partial<RecordedSpan> = {}): RecordedSpan => ({
  number: ++number,
  shard: 0,
  kind: 'command',
  component: 'counter',
  handler: 'add',
  entityId: 'a',
  traceId: 'a'.repeat(32),
  spanId,
  parentId: undefined,
  traceState: undefined,
  isSampled: true,
  startMs: START_MS,
  durationMs: 1,
  outcome: 'Ok',
  fuel: 5,
  events: 1,
  status: undefined,
  fault: undefined,
  ...more,
});

type Sketch = readonly [string, ...Sketch[]];
const sketch = ({ spanId, children }: Span): Sketch => [spanId, ...children.map(sketch)];
const depthOf = ({ children }: Span): number => 1 + Math.max(0, ...children.map(depthOf));

describe('a tree', () => {
  test('has each span below the one that it names, in the order in which they began, whatever the shard', () => {
    const { roots, durationMs, moreSpans, remoteParent } = traceTree([
      span('c2', { parentId: 'root', startMs: START_MS + 5, durationMs: 20, shard: 1 }),
      span('c1', { parentId: 'root', startMs: START_MS + 1, shard: 2 }),
      span('c11', { parentId: 'c1', startMs: START_MS + 1.5, durationMs: 0.25 }),
      span('root', { durationMs: 10 }),
    ]);
    expect(roots.map(sketch)).toEqual([['root', ['c1', ['c11']], ['c2']]]);
    expect(roots[0]!.children[0]!.children[0]).toMatchObject({ offsetMs: 1.5, durationMs: 0.25 });
    expect(roots[0]!.startedAt).toBe('2026-11-22T01:02:03.456Z');
    // The duration reaches to the latest end.
    expect([durationMs, moreSpans, remoteParent]).toEqual([25, 0, null]);
  });

  test('has a parent before a child that began in the same tick', () => {
    const { roots } = traceTree([
      span('child', { parentId: 'root', durationMs: 1 }),
      span('root', { durationMs: 2 }),
    ]);
    expect(roots.map(sketch)).toEqual([['root', ['child']]]);
  });

  test('whose first span has a parent elsewhere says which', () => {
    const { roots, remoteParent } = traceTree([
      span('child', { parentId: 'root', startMs: START_MS + 1 }),
      span('root', { parentId: 'remote' }),
    ]);
    expect(remoteParent).toBe('remote');
    expect(roots.map(sketch)).toEqual([['root', ['child']]]);
  });

  test('has a span whose parent has left the window as a root', () => {
    const { roots } = traceTree([span('one', { parentId: 'gone' }), span('two')]);
    expect(roots.map(sketch)).toEqual([['one'], ['two']]);
  });

  test('metadata that a module forged makes no cycle in it', () => {
    const { roots } = traceTree([
      span('a', { parentId: 'b', startMs: START_MS }),
      span('b', { parentId: 'a', startMs: START_MS + 1 }),
      span('self', { parentId: 'self', startMs: START_MS + 2 }),
    ]);
    expect(roots.map(sketch)).toEqual([['a', ['b']], ['self']]);
  });

  test('shows spans of one id beside each other, and the first has the children', () => {
    const { roots } = traceTree([
      span('same'),
      span('same', { startMs: START_MS + 1 }),
      span('child', { parentId: 'same', startMs: START_MS + 2 }),
    ]);
    expect(roots.map(sketch)).toEqual([['same', ['child']], ['same']]);
  });

  test('of 10,000 requests of one trace id is cut, and says how much', () => {
    const spans = Array.from({ length: 10_000 }, (_, n) =>
      span(`s${n}`, { startMs: START_MS + n }),
    );
    const { roots, moreSpans, durationMs } = traceTree(spans);
    expect(roots).toHaveLength(SPANS_SHOWN_MAX);
    expect(moreSpans).toBe(10_000 - SPANS_SHOWN_MAX);
    expect(durationMs).toBe(10_000);
  });

  test('goes no deeper than a reader can follow, and loses none', () => {
    const spans = Array.from({ length: 500 }, (_, n) =>
      span(`s${n}`, {
        startMs: START_MS + n,
        ...(n === 0 ? {} : { parentId: `s${n - 1}` }),
      }),
    );
    const { roots } = traceTree(spans);
    expect(Math.max(...roots.map(depthOf))).toBeLessThanOrEqual(66);
    const count = (all: readonly Span[]): number =>
      all.reduce((sum, { children }) => sum + 1 + count(children), 0);
    expect(count(roots)).toBe(500);
  });

  test('says of a fault where it was', () => {
    const location = { file: 'assembly/cart.ts', line: 31, column: 5, function: 'Cart.add' };
    const { roots } = traceTree([span('a', { outcome: 'Failed', fault: FAULT })], () => [location]);
    expect(roots[0]!.fault).toEqual({
      code: 'trap',
      limit: null,
      reason: 'It trapped.',
      guestMessage: 'abort: oh no',
      places: [location],
      errorId: 'e'.repeat(16),
    });
    expect(roots[0]!.status).toBeNull();
  });
});

const named = ({ component, handler }: RecordedSpan) => `${component}.${handler}`;

describe('a summary', () => {
  test('is of the span that began first, and its error that of the first that has failed', () => {
    const failed = { outcome: 'Failed', fault: FAULT } as const;
    const late = { ...FAULT, reason: 'It was late.' };
    const [summary, ...others] = traceSummaries(
      [
        span('c', { ...failed, outcome: 'TimedOut', fault: late, startMs: START_MS + 2 }),
        span('b', { ...failed, startMs: START_MS + 1, durationMs: 6 }),
        span('a', { kind: 'endpoint', entityId: undefined, status: 200, durationMs: 4 }),
      ],
      named,
    );
    expect(others).toEqual([]);
    expect(summary).toEqual({
      traceId: 'a'.repeat(32),
      kind: 'endpoint',
      component: 'counter',
      handler: 'add',
      name: 'counter.add',
      entityId: 'a',
      startedAt: '2026-11-22T01:02:03.456Z',
      durationMs: 7,
      outcome: 'Ok',
      status: 200,
      spans: 3,
      failed: 2,
      error: 'It trapped.',
      guestMessage: FAULT.guestMessage,
    });
  });

  test('of a refusal has failed nowhere, and says why it was refused', () => {
    const refused = { ...FAULT, code: 'CONFLICT', reason: 'It is taken.' };
    const [summary] = traceSummaries([span('a', { outcome: 'Refused', fault: refused })], named);
    expect(summary).toMatchObject({ outcome: 'Refused', failed: 0, error: 'It is taken.' });
    const [reported] = traceSummaries(
      [span('a', { fault: { ...FAULT, guestMessage: undefined } })],
      named,
    );
    expect(reported).toMatchObject({ error: 'It trapped.', guestMessage: null });
  });

  test('is there for each trace', () => {
    const ids = ['a', 'b', 'a', 'c'].map((digit) => digit.repeat(32));
    const summaries = traceSummaries(
      ids.map((traceId, at) => span(`s${at}`, { traceId })),
      named,
    );
    expect(summaries.map(({ traceId, spans }) => `${traceId[0]} ${spans}`).toSorted()).toEqual([
      'a 2',
      'b 1',
      'c 1',
    ]);
  });
});

test('a span is called as its route, or by component and handler', () => {
  const route = {
    method: 'POST',
    path: '/counters/{id}',
    endpoint: 'CounterEndpoint',
    handler: 'add',
  } as ServiceRoute;
  const nameOf = spanName([route]);
  const request = { kind: 'endpoint', component: 'CounterEndpoint' } as const;
  expect(nameOf(span('a', request))).toBe('POST /counters/{id}');
  expect(nameOf(span('a', { ...request, handler: 'other' }))).toBe('CounterEndpoint.other');
  // An entity and an endpoint may have the same name.
  expect(nameOf(span('a', { component: 'CounterEndpoint' }))).toBe('CounterEndpoint.add');
});

test('a fault is of the end of its span', () => {
  const failed = span('a', { outcome: 'Failed', fault: FAULT, durationMs: 1_000 });
  expect(faultOf(failed, FAULT, [])).toMatchObject({
    at: '2026-11-22T01:02:04.456Z',
    traceId: 'a'.repeat(32),
    component: 'counter',
    handler: 'add',
    entityId: 'a',
    outcome: 'Failed',
    fault: { code: 'trap', places: [] },
  });
});
