// SpanRing, called as the engine and the HTTP server would call it.
import { describe, expect, test } from 'vitest';
import type { EndedCall, EndedRequest } from '../../../../host/engine/needs/recorder.ts';
import { SPAN_OUTCOMES, type SpanOutcome } from '../../../../model/span-outcome.ts';
import { SpanRing } from '../../../../host/shards/recorder/span-ring.ts';
import { ShardNumbers } from '../../../../host/shards/shard-numbers.ts';
import { Random } from '../../../support/random.ts';
import { handlersDescriptor } from '../../introspection/observability/support/handlers-descriptor.ts';

const TRACE = { high: 0xaaaaaaaaaaaaaaaan, low: 0xaaaaaaaaaaaaaaabn };
const OWN = { trace: TRACE, spanId: 0xbbbbbbbbbbbbbbbbn, flags: 1 };
const TRACE_ID = `${'a'.repeat(31)}b`;
const OK = 0;
const REFUSED = 1;
const FAILED = 2;
/** Handlers of handlersDescriptor: a command, a query, and then the routes. */
const [ADD, GET, ROUTE] = [0, 1, 2];

const call = (more: Partial<EndedCall> = {}): EndedCall => ({
  handlerIndex: ADD,
  startMs: 1,
  trace: undefined,
  parentId: undefined,
  traceState: undefined,
  fuel: 10,
  entityId: 'a',
  eventsPersisted: 1,
  ...more,
});
const request = (more: Partial<EndedRequest> = {}): EndedRequest => ({
  handlerIndex: ROUTE,
  startMs: 1,
  trace: OWN,
  parentId: undefined,
  traceState: undefined,
  fuel: 10,
  status: 200,
  errorId: undefined,
  ...more,
});

function ringOf(capacity: number) {
  const numbers = new ShardNumbers(handlersDescriptor(), capacity);
  return { numbers, ring: new SpanRing(numbers, 3) };
}

const windowOf = ({ window }: ShardNumbers) =>
  window.counted().map(({ counts, seconds }) => [...counts, seconds]);

test('it keeps the newest spans, as many as it has room for, and counts all', () => {
  const { ring, numbers } = ringOf(3);
  for (let n = 1; n <= 5; n++) ring.called(call({ entityId: `e${n}` }), 2, OK, undefined);
  expect(ring.after(0, 10).map(({ number, entityId }) => [number, entityId])).toEqual([
    [3, 'e3'],
    [4, 'e4'],
    [5, 'e5'],
  ]);
  expect(ring.after(3, 1).map(({ number }) => number)).toEqual([4]);
  expect(ring.after(5, 10)).toEqual([]);
  expect(ring.after(99, 10)).toEqual([]);
  expect(ring.count).toBe(5);
  expect(numbers.window.recorded).toBe(5);
  expect(numbers.window.capacity).toBe(3);
});

test('a span has all that was recorded, and its time is since 1970', () => {
  const { ring } = ringOf(4);
  const parentId = 0xccccccccccccccccn;
  ring.called(call({ handlerIndex: GET, trace: OWN, parentId, startMs: 5 }), 7.5, OK, undefined);
  ring.served(request({ status: 404 }), 3, REFUSED, undefined);
  expect(ring.after(0, 2)).toEqual([
    {
      number: 1,
      shard: 3,
      kind: 'query',
      component: 'counter',
      handler: 'get',
      entityId: 'a',
      traceId: TRACE_ID,
      spanId: 'b'.repeat(16),
      parentId: 'c'.repeat(16),
      traceState: undefined,
      isSampled: true,
      startMs: performance.timeOrigin + 5,
      durationMs: 2.5,
      outcome: 'Ok',
      fuel: 10,
      events: 1,
      status: undefined,
      fault: undefined,
    },
    expect.objectContaining({
      kind: 'endpoint',
      component: 'CounterEndpoint',
      handler: 'show',
      entityId: undefined,
      parentId: undefined,
      outcome: 'Refused',
      events: 0,
      status: 404,
    }),
  ]);
});

test('a row that is used again keeps nothing of the span before', () => {
  const { ring } = ringOf(1);
  ring.called(
    call({ trace: OWN, parentId: 12n, traceState: 'a=1' }),
    2,
    FAILED,
    new Error('broken'),
  );
  expect(ring.after(0, 1)[0]).toMatchObject({
    parentId: '000000000000000c',
    traceState: 'a=1',
    fault: { code: 'bug', reason: 'broken' },
  });
  ring.served(request(), 2, OK, undefined);
  const [span] = ring.after(0, 9);
  expect(span).toMatchObject({ number: 2, events: 0, outcome: 'Ok' });
  for (const left of [span!.entityId, span!.fault, span!.parentId, span!.traceState])
    expect(left).toBeUndefined();
  ring.served(request({ status: 404 }), 2, REFUSED, undefined);
  expect(ring.after(0, 9)[0]).toMatchObject({ outcome: 'Refused', fault: undefined });
  ring.called(call(), 2, OK, undefined);
  const [last] = ring.after(0, 9);
  expect(last!.status).toBeUndefined();
  expect(last!.traceId).not.toBe(TRACE_ID);
  expect(last!.traceId).toMatch(/^[0-9a-f]{32}$/);
});

describe('what is kept does not grow with what is sent:', () => {
  test('an id of a megabyte is cut', () => {
    const { ring } = ringOf(1);
    ring.called(call({ entityId: 'x'.repeat(1_000_000) }), 2, OK, undefined);
    expect(ring.after(0, 1)[0]!.entityId).toBe('x'.repeat(512));
  });

  test('an id of a few hundred characters is itself, whatever they are', () => {
    const { ring } = ringOf(1);
    const id = '\ud800\u0000é世🙂'.repeat(60);
    ring.called(call({ entityId: id }), 2, OK, undefined);
    expect(ring.after(0, 1)[0]!.entityId).toBe(id);
  });

  test('tracestates have a total, beyond which the oldest spans lose theirs', () => {
    const { ring } = ringOf(20_000);
    const state = `a=${'x'.repeat(198)},b=${'x'.repeat(198)},c=${'x'.repeat(107)}`;
    expect(state).toHaveLength(511);
    const stateOf = (n: number) => `${state.slice(0, -5)}${10_000 + n}`;
    for (let n = 1; n <= 10_000; n++)
      ring.called(call({ traceState: stateOf(n) }), 2, OK, undefined);
    const states = ring.after(0, 20_000).map(({ traceState }) => traceState);
    const kept = Math.floor((4 * 1024 * 1024) / state.length);
    expect(states.indexOf(stateOf(10_000 - kept + 1))).toBe(10_000 - kept);
    expect(states.filter((one) => one !== undefined)).toHaveLength(kept);
    expect(states.at(-1)).toBe(stateOf(10_000));
  });

  test('10,000 spans a second leave the window at its size, and every span counted', () => {
    const { ring, numbers } = ringOf(1_000);
    for (let second = 0; second < 5; second++)
      for (let n = 0; n < 10_000; n++)
        ring.called(call({ startMs: second, handlerIndex: n % 2 }), second + 1, OK, undefined);
    expect(ring.after(0, 100_000)).toHaveLength(1_000);
    expect(numbers.window.recorded).toBe(50_000);
    expect(numbers.window.counted().map(({ counts }) => counts[OK])).toEqual([500, 500, 0, 0, 0]);
  });
});

test('counts drop as the window overwrites old spans', () => {
  const { ring, numbers } = ringOf(2);
  for (let n = 0; n < 2; n++) ring.called(call(), 2, FAILED, new Error('broken'));
  expect(windowOf(numbers)[ADD]).toEqual([0, 0, 2, 0, 0.002]);
  for (let n = 0; n < 2; n++) ring.served(request(), 4, OK, undefined);
  expect(windowOf(numbers)[ADD]).toEqual([0, 0, 0, 0, 0]);
  expect(windowOf(numbers)[ROUTE]).toEqual([2, 0, 0, 0, 0.006]);
});

test('sums never go below nothing, and are those of the ring, whatever is added', () => {
  const chance = new Random(7);
  const random = () => chance.below(1_000_000) / 1_000_000;
  const { ring, numbers } = ringOf(13);
  for (let n = 0; n < 2_000; n++) {
    const startMs = random() * 1e6;
    const endMs = startMs + random() ** 8 * 1e5;
    const outcome = Math.floor(random() * 4) as SpanOutcome;
    const handlerIndex = Math.floor(random() * 4);
    if (handlerIndex < 2) ring.called(call({ handlerIndex, startMs }), endMs, outcome, undefined);
    else ring.served(request({ handlerIndex, startMs }), endMs, outcome, undefined);
    if (n % 100 !== 0) continue;
    const kept = ring.after(0, 100);
    for (const { handlerIndex: at, counts, seconds } of numbers.window.counted()) {
      const { component, handler, kind } = numbers.handlerTable.handlers[at]!;
      const those = kept.filter(
        (span) => span.component === component && span.handler === handler && span.kind === kind,
      );
      expect(counts).toEqual(
        SPAN_OUTCOMES.map((word) => those.filter((span) => span.outcome === word).length),
      );
      // Durations are whole nanoseconds, whose sum is exact.
      const ns = those.reduce((sum, { durationMs }) => sum + Math.round(durationMs * 1e6), 0);
      expect(seconds).toBe(ns / 1e9);
    }
  }
});

test('what a thread before had in its window is gone, and what it counted since the start is not', () => {
  const { ring, numbers } = ringOf(5);
  for (let n = 0; n < 3; n++) ring.called(call(), 2, OK, undefined);
  const after = new ShardNumbers(handlersDescriptor(), 5, numbers.shared);
  const fresh = new SpanRing(after, 3);
  expect(windowOf(numbers)).toEqual(numbers.handlerTable.handlers.map(() => [0, 0, 0, 0, 0]));
  expect(numbers.window.recorded).toBe(3);
  fresh.called(call(), 2, OK, undefined);
  expect(numbers.window.recorded).toBe(4);
  expect(numbers.totals.read()[1]!.counts).toEqual([4, 0, 0, 0]);
});

test('totals grow by kind and outcome, with the fuel and the time, and never fall', () => {
  const { ring, numbers } = ringOf(1);
  ring.served(request({ fuel: 100 }), 3, OK, undefined);
  ring.called(call({ fuel: 7 }), 11, FAILED, undefined);
  ring.called(call({ handlerIndex: GET, fuel: 1 }), 2, OK, undefined);
  const totals = numbers.totals.read();
  expect(totals.map(({ kind, counts, fuel }) => [kind, counts, fuel])).toEqual([
    ['endpoint', [1, 0, 0, 0], 100],
    ['command', [0, 0, 1, 0], 7],
    ['query', [1, 0, 0, 0], 1],
    ['firing', [0, 0, 0, 0], 0],
    ['consumer', [0, 0, 0, 0], 0],
  ]);
  expect(totals.map(({ seconds }) => seconds.sum)).toEqual([0.002, 0.01, 0.001, 0, 0]);
});
