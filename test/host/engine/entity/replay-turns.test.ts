// How long journals are folded before others have their turn, and before it is given up.
import { describe, expect, test } from 'vitest';
import type { EngineLimits } from '../../../../host/engine/engine-limits.ts';
import { GuestFault } from '../../../../model/guest-fault.ts';
import { COUNTER, type CounterOptions, added } from '../../../support/counter-guest.ts';
import { EngineUnderTest, turns } from '../../../support/engine-under-test.ts';
import type { HeldJournal } from '../../../support/held-journal.ts';

const ones = (count: number) => Array.from({ length: count }, () => added(1));

async function filled(...histories: readonly (readonly [string, number])[]): Promise<HeldJournal> {
  const it = new EngineUnderTest();
  for (const [id, count] of histories) await it.storeEvents(id, ones(count));
  return it.journal;
}

async function engineOver(
  count: number,
  options: CounterOptions & { readonly limits?: Partial<EngineLimits> } = {},
): Promise<EngineUnderTest> {
  return new EngineUnderTest({ ...options, journal: await filled(['a', count]) });
}

describe('folding a journal', () => {
  test('yields to the event loop after each thousand events', async () => {
    const it = await engineOver(10_000);
    const turn = Promise.withResolvers<void>();
    it.turn = () => turn.promise;
    const large = it.outcome('a', 'total');
    await turns();
    // It waits, and another entity is served.
    expect(it.guest.folds.reduce((sum, events) => sum + events, 0)).toBeLessThan(3_000);
    expect(await it.outcome('b', 'add', 5)).toBe(5);
    turn.resolve();
    expect(await large).toBe(10_000);
    expect(it.turnCount).toBeGreaterThanOrEqual(9 - 1);
  });

  test('of many entities at once has one slice of a turn, and not one each', async () => {
    const histories = Array.from({ length: 20 }, (_, index) => [`e${index}`, 900] as const);
    const it = new EngineUnderTest({ journal: await filled(...histories) });
    let turnsAtOnce = 0;
    it.turn = async () => {
      expect(++turnsAtOnce).toBe(1);
      await new Promise((resolve) => setImmediate(resolve));
      turnsAtOnce--;
    };
    const totals = await Promise.all(histories.map(([id]) => it.outcome(id, 'total')));
    expect(new Set(totals)).toEqual(new Set([900]));
    expect(it.turnCount).toBeGreaterThanOrEqual(10);
  });

  test('takes fewer events at once when they are slow, and yields more often', async () => {
    const it = await engineOver(1_000);
    it.guest.onFold = (events) => {
      it.nowMs += events;
    };
    expect(await it.outcome('a', 'total')).toBe(1_000);
    expect(it.guest.folds.slice(0, 8)).toEqual([128, 64, 32, 16, 8, 4, 8, 4]);
    expect(Math.max(...it.guest.folds.slice(4))).toBe(8);
    expect(it.turnCount).toBeGreaterThanOrEqual(60);
  });

  test('ends after its time limit, waiting not counted, and the error names its position', async () => {
    const it = await engineOver(3_000, { limits: { replayTimeoutMs: 1_000, entityFaultsMax: 1 } });
    it.turn = async () => {
      it.nowMs += 10_000;
    };
    it.guest.onFold = (events) => {
      it.nowMs += events / 4;
    };
    expect(await it.outcome('a', 'total')).toBe(3_000);
    await it.outcome('a', 'fault');
    it.guest.onFold = (events) => {
      it.nowMs += events;
    };
    const fault = await it.call('a', 'total').catch((error: unknown) => error);
    expect(fault).toMatchObject({ faultCause: 'time', limit: 'replay-time' });
    expect((fault as GuestFault).message).toMatch(
      new RegExp(
        `entity 'a' of component '${COUNTER}' takes longer than 1000 ms.* event 10\\d\\d$`,
      ),
    );
    expect(it.guest.openCount).toBe(0);
    expect(await it.outcome('a', 'total')).toBe('failed SVC_ENTITY_HELD_BACK');
  });

  test.each([5_000, -5_000])(
    'does not end because the wall clock is set by %i ms',
    async (setMs) => {
      const it = await engineOver(3_000, { limits: { replayTimeoutMs: 1_000 } });
      it.guest.onFold = () => {
        it.wallSetMs += setMs;
      };
      expect(await it.outcome('a', 'total')).toBe(3_000);
      // No batch counts as slow, so each is larger than the one before.
      expect(it.guest.folds.slice(0, 3)).toEqual([128, 256, 512]);
    },
  );
});

describe('an instance that another entity takes away', () => {
  test('is made up for with one that the entity has for itself', async () => {
    const it = await engineOver(3_000, { perInstance: 3, limits: { entityFaultsMax: 1 } });
    await it.outcome('b', 'noop');
    let fault: Promise<unknown> | undefined;
    it.guest.duringFold = () => {
      fault = it.outcome('b', 'fault');
    };
    expect(await it.outcome('a', 'total')).toBe(3_000);
    expect(await fault).toBe('failed trap');
    expect(it.guest.opened).toEqual(['b', 'a', 'a alone']);
  });

  test('time after time ends in a failure, and is not held against the entity', async () => {
    const it = await engineOver(3_000, { perInstance: 100, limits: { entityFaultsMax: 1 } });
    // A hosting that knows nothing of instances for one entity.
    const { entities } = it.guest;
    const open = entities.open.bind(entities);
    entities.open = (entity, snapshot) => open(entity, snapshot);
    const faults: Promise<unknown>[] = [];
    for (let round = 0; round < 3; round++) {
      it.guest.onFold = (events) => {
        if (events > 0) faults.push(it.outcome('b', 'fault'));
      };
      const failure = await it.call('a', 'total').catch((error: unknown) => error);
      expect(failure).toMatchObject({ faultCause: 'trap' });
      expect((failure as GuestFault).message).toContain('lost its instance');
    }
    it.guest.onFold = undefined;
    await Promise.all(faults);
    expect(await it.outcome('a', 'total')).toBe(3_000);
  });
});

test('a batch that was too much at once begins again in an instance of its own, one by one', async () => {
  const it = await engineOver(400, { perInstance: 100 });
  it.guest.foldEventsMax = 200;
  await it.outcome('b', 'add', 7);
  expect(await it.outcome('a', 'total')).toBe(400);
  expect(it.guest.opened.slice(0, 3)).toEqual(['b', 'a', 'a alone']);
  expect(it.guest.folds.slice(-3)).toEqual([1, 1, 1]);
});
