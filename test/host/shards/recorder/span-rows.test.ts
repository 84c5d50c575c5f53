// SpanRows in memory that two threads share: its counts, across restarts of the thread.
import { describe, expect, test } from 'vitest';
import type { SpanOutcome } from '../../../../model/span-outcome.ts';
import { SpanRows } from '../../../../host/shards/recorder/span-rows.ts';

const HANDLERS = 3;

function add(rows: SpanRows, times = 1, handlerIndex = 0, outcome: SpanOutcome = 0): void {
  const span = { handlerIndex, startMs: 5, fuel: 1, trace: undefined, parentId: undefined };
  for (let n = 0; n < times; n++) rows.add(span, 2, outcome, 0);
}

/** The rows as another thread sees them. */
const again = (rows: SpanRows) => new SpanRows(HANDLERS, rows.capacity, rows.shared);

/** Returns the number of spans that are counted. */
const counted = (rows: SpanRows) =>
  rows.counted().reduce((sum, { counts }) => sum + counts.reduce((all, count) => all + count), 0);

describe('what was recorded since the process started', () => {
  test('continues with each thread and each module, whose windows begin empty', () => {
    const first = new SpanRows(HANDLERS, 4);
    const seen: [recorded: number, added: number, inWindow: number][] = [];
    const see = (rows: SpanRows) => seen.push([rows.recorded, rows.added, counted(rows)]);
    add(first, 6);
    see(first);
    const restarted = again(first);
    restarted.begin();
    see(first);
    add(restarted, 2);
    see(first);
    const replaced = new SpanRows(HANDLERS, 4);
    replaced.continueFrom(first);
    see(replaced);
    const itsThread = again(replaced);
    itsThread.begin();
    add(itsThread);
    see(replaced);
    again(replaced).begin();
    see(replaced);
    expect(seen).toEqual([
      [6, 6, 4],
      [6, 0, 0],
      [8, 2, 2],
      [8, 0, 0],
      [9, 1, 1],
      [9, 0, 0],
    ]);
  });

  test('has nothing of a thread whose module is no more', () => {
    const before = new SpanRows(HANDLERS, 4);
    add(before, 2, 2);
    const next = new SpanRows(1, 4);
    next.continueFrom(before);
    add(before, 9, 2);
    expect(next.recorded).toBe(2);
    expect(next.counted()).toEqual([{ handlerIndex: 0, counts: [0, 0, 0, 0], seconds: 0 }]);
  });
});

test('a thread that begins writes over the first row first', () => {
  const rows = new SpanRows(HANDLERS, 3);
  add(rows, 2, 1);
  rows.begin();
  add(rows, 1, 2, 3);
  expect(rows.at(0)).toMatchObject({ handlerIndex: 2, outcome: 3 });
});

test.each([
  [{ high: 2n ** 64n - 1n, low: 0n }, 2n ** 63n, 2n ** 64n - 1n, 3],
  [{ high: 0n, low: 1n }, 1n, undefined, 0],
])('a trace is kept bit by bit: %s', (trace, spanId, parentId, flags) => {
  const rows = new SpanRows(HANDLERS, 1);
  const span = {
    handlerIndex: 2,
    startMs: 1,
    fuel: 2 ** 53,
    trace: { trace, spanId, flags },
    parentId,
  };
  rows.add(span, 3, 3, 2 ** 32 - 1);
  expect(rows.at(0)).toEqual({ ...span, durationMs: 3, outcome: 3, detail: 2 ** 32 - 1 });
});
