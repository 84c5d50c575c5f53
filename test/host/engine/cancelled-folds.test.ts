// A stop whose time is over ends folds: of calls that wait for them, and of the check of states that leave memory.
import { describe, expect, test } from 'vitest';
import type { EngineLimits } from '../../../host/engine/engine-limits.ts';
import { added } from '../../support/counter-guest.ts';
import { EngineUnderTest } from '../../support/engine-under-test.ts';

const EVENTS = 10_000;

/** An engine over a journal with an entity of so many events, whose folds wait for the gate. */
async function folding(limits: Partial<EngineLimits> = {}) {
  const stored = new EngineUnderTest();
  const events = Array.from({ length: EVENTS }, () => added(1));
  await stored.storeEvents('a', events);
  const it = new EngineUnderTest({
    journal: stored.journal,
    limits: { purityCheckInterval: 0, purityRefoldInterval: 0, ...limits },
  });
  const gate = Promise.withResolvers<void>();
  const waiting = Promise.withResolvers<void>();
  const hold = () => {
    it.turn = () => {
      waiting.resolve();
      return gate.promise;
    };
  };
  const folded = () => it.guest.folds.reduce((sum, count) => sum + count, 0);
  return { it, hold, waits: waiting.promise, release: gate.resolve, folded };
}

const CHECKED = { purityRefoldInterval: 1, purityRefoldEventsMax: 2 * EVENTS };

describe('a call whose entity is folded', () => {
  test('fails with SVC_STOPPING, which is no fault of the entity', async () => {
    const { it, hold, waits, release, folded } = await folding();
    hold();
    const calls = [it.outcome('a', 'total'), it.outcome('a', 'add', 1)];
    await waits;
    const closed = it.engine.close();
    it.engine.cancel();
    release();
    expect(await Promise.all(calls)).toEqual(['failed SVC_STOPPING', 'failed SVC_STOPPING']);
    await closed;
    expect(folded()).toBeLessThan(EVENTS);
    expect(it.faults).toEqual([]);
    expect(it.guest.openCount).toBe(0);
  });

  test('is answered while the stop has time', async () => {
    const { it, hold, waits, release, folded } = await folding();
    hold();
    const call = it.outcome('a', 'total');
    await waits;
    const closed = it.engine.close();
    release();
    expect(await call).toBe(EVENTS);
    await closed;
    expect(folded()).toBe(EVENTS);
  });
});

describe('the check of a state that leaves memory', () => {
  test('is given up in the middle', async () => {
    const { it, hold, waits, release, folded } = await folding(CHECKED);
    expect(await it.outcome('a', 'total')).toBe(EVENTS);
    hold();
    const closed = it.engine.close();
    await waits;
    it.engine.cancel();
    release();
    await closed;
    expect(folded()).toBeLessThan(2 * EVENTS);
    expect(it.faults).toEqual([]);
    expect(it.guest.openCount).toBe(0);
  });

  test('does not begin once the time is over', async () => {
    const { it, folded } = await folding(CHECKED);
    expect(await it.outcome('a', 'total')).toBe(EVENTS);
    it.engine.cancel();
    await it.engine.close();
    expect(folded()).toBe(EVENTS);
  });

  test('is made while the stop has time', async () => {
    const { it, folded } = await folding(CHECKED);
    expect(await it.outcome('a', 'total')).toBe(EVENTS);
    await it.engine.close();
    expect(folded()).toBe(2 * EVENTS);
  });
});

test('calls that are not decided when the time is over fail, and those that are decided are answered', async () => {
  const { it, hold, waits, release } = await folding();
  let nowMs = 1_000_000;
  // Every look at the clock finds it a millisecond on, so that the calls are served a few at a time.
  Object.defineProperty(it, 'nowMs', { get: () => ++nowMs });
  hold();
  const asked = Array.from({ length: 60 }, () => it.outcome('b', 'add', 1));
  await waits;
  const closed = it.engine.close();
  it.engine.cancel();
  release();
  const outcomes = await Promise.all(asked);
  const answered = outcomes.filter((outcome) => outcome !== 'failed SVC_STOPPING');
  expect(answered.length).toBeGreaterThan(0);
  expect(answered.length).toBeLessThan(60);
  expect(answered).toEqual(answered.map((_, index) => index + 1));
  await closed;
  expect(await it.records('b')).toHaveLength(answered.length);
});
