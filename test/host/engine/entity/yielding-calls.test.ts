// Calls that have waited for their entity are served together once it is in memory. They yield to the event loop from time
// to time, so that other work is not delayed.
import { expect, test } from 'vitest';
import { EngineUnderTest, turns } from '../../../support/engine-under-test.ts';

/** Advances the clock by a millisecond each time that it is read, as if each call took one. */
function withTime(it: EngineUnderTest): EngineUnderTest {
  let nowMs = 1_000_000;
  Object.defineProperty(it, 'nowMs', { get: () => ++nowMs });
  return it;
}

const count = (total: number) => Array.from({ length: total }, (_, index) => index + 1);

test('calls that waited for their entity yield to the event loop several times, and are served in order', async () => {
  const it = withTime(new EngineUnderTest());
  const servedBefore = [0];
  it.turn = async () => void servedBefore.push(it.guest.calls.length);
  const asked = count(100).map(() => it.outcome('a', 'add', 1));
  expect(await Promise.all(asked)).toEqual(count(100));
  expect(servedBefore.length).toBeGreaterThan(5);
  expect(servedBefore.length).toBeLessThan(50);
  const steps = servedBefore.map((served, index) => served - (servedBefore[index - 1] ?? 0));
  expect(Math.max(...steps)).toBeLessThanOrEqual(30);
});

test.each([3_600_000, -3_600_000])(
  'calls yield no more often when the wall clock is set by %i ms',
  async (setMs) => {
    const it = new EngineUnderTest();
    it.guest.onFold = () => {
      it.wallSetMs += setMs;
    };
    const asked = count(100).map(() => it.outcome('a', 'add', 1));
    expect(await Promise.all(asked)).toEqual(count(100));
    expect(it.turnCount).toBe(0);
  },
);

test('an append that fails while calls yield fails the commands that were decided on it, and no others', async () => {
  const it = withTime(new EngineUnderTest());
  it.journal.held = true;
  const asked = count(60).map(() => it.outcome('a', 'add', 1));
  const { promise: others, resolve } = Promise.withResolvers<void>();
  it.turn = () => others;
  await turns();
  const decided = it.journal.waitingCount;
  expect(decided).toBeGreaterThan(0);
  expect(decided).toBeLessThan(60);
  await it.journal.fail();
  it.journal.held = false;
  it.turn = () => Promise.resolve();
  resolve();
  await it.journal.letAllThrough();
  const failed = Array.from({ length: decided }, () => 'failed SVC_JOURNAL_UNAVAILABLE');
  expect(await Promise.all(asked)).toEqual([...failed, ...count(60 - decided)]);
  expect(await it.records('a')).toHaveLength(60 - decided);
});

test('closing the engine waits for the calls that yield', async () => {
  const it = withTime(new EngineUnderTest());
  const asked = count(60).map(() => it.outcome('a', 'add', 1));
  const { promise: others, resolve } = Promise.withResolvers<void>();
  it.turn = () => others;
  await turns();
  let isClosed = false;
  const closed = it.engine.close().then(() => {
    isClosed = true;
  });
  await turns();
  expect(isClosed).toBe(false);
  resolve();
  await closed;
  expect(await Promise.all(asked)).toEqual(count(60));
});

test('calls that are refused while the disk is too slow yield no more often than calls that are served', async () => {
  const it = withTime(new EngineUnderTest({ limits: { unsettledBytesMax: 1 } }));
  it.journal.held = true;
  const asked = count(100).map(() => it.outcome('a', 'add', 1));
  await Promise.all(asked.slice(1));
  expect(it.turnCount).toBeLessThan(50);
  await it.journal.letAllThrough();
  const refused = Array.from({ length: 99 }, () => 'failed SVC_OVERLOADED');
  expect(await Promise.all(asked)).toEqual([1, ...refused]);
});
