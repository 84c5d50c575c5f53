// Entities that leave memory because nobody calls them, or because the hosting runs short of it.
import { describe, expect, test } from 'vitest';
import type { EngineLimits } from '../../../../host/engine/engine-limits.ts';
import { COUNTER } from '../../../support/counter-guest.ts';
import { EngineUnderTest, turns } from '../../../support/engine-under-test.ts';

const HOUR_MS = 3_600_000;
const limits: Partial<EngineLimits> = { idleTimeoutMs: 1_000, purityRefoldInterval: 0 };

async function withEntities(count: number, more: Partial<EngineLimits> = {}) {
  const it = new EngineUnderTest({ limits: { ...limits, ...more } });
  for (let n = 0; n < count; n++) await it.outcome(`e${n}`, 'add', n);
  // The time of the last use counts from here.
  await it.engine.passivate();
  return it;
}

describe('by time', () => {
  test('those that were not called for so long leave, to the millisecond, and come back when they are called', async () => {
    const it = await withEntities(3);
    it.nowMs += 999;
    expect(await it.outcome('e1', 'total')).toBe(1);
    await it.engine.passivate();
    expect(it.guest.openCount).toBe(3);
    it.nowMs += 1;
    await it.engine.passivate();
    expect(it.guest.openCount).toBe(1);
    expect(await it.outcome('e1', 'total')).toBe(1);
    expect(it.journal.reads).toHaveLength(3);
    expect(await it.outcome('e2', 'total')).toBe(2);
    expect(it.journal.reads).toHaveLength(4);
  });

  test('never, where that is set', async () => {
    const it = await withEntities(3, { idleTimeoutMs: 0 });
    it.nowMs += 1e12;
    await it.engine.passivate();
    expect(it.guest.openCount).toBe(3);
  });

  test('not those that wait for the disk', async () => {
    const it = await withEntities(1);
    it.journal.held = true;
    const waiting = it.outcome('e0', 'add', 5);
    it.nowMs += 5_000;
    await it.engine.passivate();
    expect(it.guest.openCount).toBe(1);
    await it.journal.letAllThrough();
    expect(await waiting).toBe(5);
  });

  test('not those with a query that is held until what it saw is on disk', async () => {
    const it = await withEntities(1);
    it.journal.held = true;
    const answers = [it.outcome('e0', 'add', 5), it.outcome('e0', 'total')];
    await turns();
    it.nowMs += 5_000;
    await it.engine.passivate();
    expect(it.guest.openCount).toBe(1);
    // It is asked again on what the journal has, and the entity may leave then.
    await it.journal.fail();
    it.journal.held = false;
    expect(await Promise.all(answers)).toEqual(['failed SVC_JOURNAL_UNAVAILABLE', 0]);
    await it.engine.passivate();
    it.nowMs += 5_000;
    await it.engine.passivate();
    expect(it.guest.openCount).toBe(0);
  });

  test('not one that has told again, a moment ago, what it answered to a key', async () => {
    const before = await withEntities(0);
    const target = { component: COUNTER, id: 'e0' };
    const first = await before.engine.call(target, 'add', '7', [], 'k');
    const it = new EngineUnderTest({ limits, journal: before.journal });
    await it.outcome('e0', 'total');
    await it.engine.passivate();
    it.nowMs += 500;
    expect(await it.engine.call(target, 'add', '7', [], 'k')).toEqual(first);
    await it.engine.passivate();
    it.nowMs += 999;
    await it.engine.passivate();
    expect(it.guest.openCount).toBe(1);
    it.nowMs += 1;
    await it.engine.passivate();
    expect(it.guest.openCount).toBe(0);
  });

  test.each([HOUR_MS, -HOUR_MS])(
    'a wall clock that is set by %i ms keeps them as long as any',
    async (setMs) => {
      const it = await withEntities(2);
      it.wallSetMs = setMs;
      it.nowMs += 999;
      await it.engine.passivate();
      expect(it.guest.openCount).toBe(2);
      it.nowMs += 1;
      await it.engine.passivate();
      expect(it.guest.openCount).toBe(0);
    },
  );

  test('many leave in slices, between which others have their turns, and once at a time', async () => {
    const it = await withEntities(600);
    it.nowMs += 1_000;
    const before = it.turnCount;
    const turn = Promise.withResolvers<void>();
    it.turn = () => turn.promise;
    const [first, second] = [it.engine.passivate(), it.engine.passivate()];
    expect(it.guest.openCount).toBe(344);
    expect(await it.outcome('e599', 'total')).toBe(599);
    turn.resolve();
    await Promise.all([first, second]);
    expect(it.guest.openCount).toBe(1);
    expect(it.turnCount - before).toBe(2);
  });

  test('a slice ends when it has taken long', async () => {
    const it = await withEntities(4);
    it.nowMs += 1_000;
    const { nowMs } = it;
    let clock = 0;
    const turn = Promise.withResolvers<void>();
    it.turn = () => turn.promise;
    Object.defineProperty(it, 'nowMs', { get: () => nowMs + clock++ * 3 });
    const leaving = it.engine.passivate();
    expect(it.guest.openCount).toBe(2);
    turn.resolve();
    await leaving;
    expect(it.guest.openCount).toBe(0);
  });

  test('an engine that is closed closes all of them, and passivates nothing more', async () => {
    const it = await withEntities(600);
    it.nowMs += 1_000;
    const turn = Promise.withResolvers<void>();
    it.turn = () => turn.promise;
    const leaving = it.engine.passivate();
    await it.engine.close();
    expect(it.guest.openCount).toBe(0);
    turn.resolve();
    await leaving;
    await it.engine.passivate();
    expect(it.guest.openCount).toBe(0);
  });
});

describe('for the sake of memory', () => {
  test('those that the hosting names leave, unless they are at work, when one comes in and now and then', async () => {
    const it = await withEntities(5);
    const asked: number[] = [];
    let named = ['e0', 'e1', 'nobody', 'e2'];
    it.guest.entities.toClose = (max) => {
      asked.push(max);
      const refs = named.map((id) => ({ component: COUNTER, id }));
      named = [];
      return refs;
    };
    it.journal.held = true;
    const atWork = it.outcome('e1', 'add', 1);
    await turns();
    const entering = it.outcome('e5', 'total');
    expect(it.guest.openCount).toBe(3);
    expect(await entering).toBe(0);
    expect(asked).toEqual([16]);
    await it.journal.letAllThrough();
    expect(await atWork).toBe(2);
    named = ['e1', 'e3'];
    await it.engine.passivate();
    // Asked again until there is nothing left to be closed.
    expect(asked).toEqual([16, 256, 256]);
    expect(it.guest.openCount).toBe(2);
    expect(it.guest.violations).toEqual([]);
  });
});
