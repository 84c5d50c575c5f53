// What operators, and a host that starts, do with the timers of every journal.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { StoredTimer } from '../../host/engine/needs/timers.ts';
import type { EntityRef } from '../../model/entity.ts';
import type {
  ServiceSchedule,
  TimerAdministration,
} from '../../host/storage/timer-administration.ts';
import { SET_MS, change, end, settle, timerAt } from '../support/timer-writes.ts';
import { recordOf } from './journal-suite.ts';
import type { TimersUnderTest } from './timer-suite.ts';

export interface AdministrationUnderTest extends TimersUnderTest {
  readonly administration: TimerAdministration;
}

const NIGHTLY: ServiceSchedule = {
  id: 'nightly',
  target: { component: 'Report', id: 'all' },
  command: 'make',
  input: '{}',
  schedule: { kind: 'cron', expression: '0 3 * * *', zone: 'Europe/Berlin' },
};
const TICK: ServiceSchedule = {
  ...NIGHTLY,
  id: 'tick',
  schedule: { kind: 'every', everyMs: 60_000 },
};

export function timerAdministrationSuite(
  location: string,
  open: () => Promise<AdministrationUnderTest>,
): void {
  describe(`timers that are kept ${location}, as operators change them`, () => {
    const one: EntityRef = { component: 'Cart', id: 'one' };
    let underTest: AdministrationUnderTest;
    let administration: TimerAdministration;

    beforeEach(async () => {
      underTest = await open();
      ({ administration } = underTest);
    });
    afterEach(() => underTest.discard());

    const all = async (): Promise<readonly StoredTimer[]> => underTest.due(SET_MS + 1e12);
    const later = SET_MS + 10_000;

    test('the schedules of the service are set, kept, replaced and removed', async () => {
      await change(underTest.journal, one, timerAt('nightly', 1));
      await administration.reconcileSchedules([NIGHTLY, TICK], SET_MS);
      const [own, tick, nightly] = await all();
      expect(own).toMatchObject({ owner: one });
      expect(tick).toMatchObject({ owner: undefined, name: 'tick', dueMs: SET_MS + 60_000 });
      expect(nightly).toMatchObject({ owner: undefined, target: NIGHTLY.target, setMs: SET_MS });
      await administration.reconcileSchedules([TICK, NIGHTLY], later);
      expect(await all()).toEqual([own, tick, nightly]);
      const changed: ServiceSchedule = { ...TICK, schedule: { kind: 'every', everyMs: 61_000 } };
      await administration.reconcileSchedules([changed], later);
      expect(await all()).toEqual([
        own,
        {
          ...tick,
          number: (await all())[1]!.number,
          schedule: changed.schedule,
          dueMs: later + 61_000,
          nextMs: later + 61_000,
          setMs: later,
        },
      ]);
      for (const other of [{ command: 'other' }, { input: '1' }, { target: one }]) {
        const before = (await all())[1]!.number;
        await administration.reconcileSchedules([{ ...changed, ...other }], later);
        expect((await all())[1]!.number).not.toBe(before);
      }
      await administration.reconcileSchedules([], later);
      expect(await all()).toEqual([own]);
    });

    test('a list with a schedule that never occurs changes nothing', async () => {
      await administration.reconcileSchedules([TICK], SET_MS);
      const before = await all();
      const never: ServiceSchedule = {
        ...NIGHTLY,
        schedule: { kind: 'cron', expression: '0 0 30 2 *', zone: '' },
      };
      await expect(
        administration.reconcileSchedules([NIGHTLY, never], later),
      ).rejects.toMatchObject({ code: 'SVC_TIMER_INVALID' });
      expect(await all()).toEqual(before);
    });

    test('a schedule of the service is fired, armed again, and has no limit of an entity', async () => {
      const many = Array.from({ length: 8 }, (_, index) => ({ ...TICK, id: `tick ${index}` }));
      await administration.reconcileSchedules(many, SET_MS);
      const [first] = await all();
      const rearm = { kind: 'rearm', dueMs: first!.dueMs + 60_000 } as const;
      expect(await end(underTest.journal, TICK.target, first!, rearm)).toBeUndefined();
      expect((await all()).at(-1)).toMatchObject({ number: first!.number, dueMs: rearm.dueMs });
      expect(
        await settle(underTest.journal, one, (await all())[0]!, [recordOf(1)]),
      ).toBeUndefined();
      expect(await all()).toHaveLength(7);
    });

    test('a timer is cancelled once, pending or dead, of an entity or of the service', async () => {
      await change(underTest.journal, one, timerAt('a', 1), timerAt('b', 2));
      await administration.reconcileSchedules([TICK], SET_MS);
      await end(underTest.journal, one, (await all())[0]!, { kind: 'dead', fault: 'f' });
      for (const [owner, name] of [
        [one, 'a'],
        [one, 'b'],
        [undefined, 'tick'],
      ] as const) {
        expect(await administration.cancelTimer(owner, name)).toBe(true);
        expect(await administration.cancelTimer(owner, name)).toBe(false);
      }
      expect(await administration.cancelTimer({ component: 'Cart', id: 'none' }, 'a')).toBe(false);
      expect(await all()).toEqual([]);
    });

    test('a dead timer is retried, and no other', async () => {
      await change(underTest.journal, one, timerAt('a', 1), timerAt('b', 2));
      const [a] = await all();
      await end(underTest.journal, one, a!, { kind: 'dead', fault: 'f' });
      expect(await administration.retryTimer(one, 'a', later)).toBe(true);
      expect(await underTest.journal.timer(a!.number)).toEqual({
        ...a,
        nextMs: later,
        attempts: 0,
        fault: 'f',
      });
      for (const name of ['a', 'b', 'c'])
        expect(await administration.retryTimer(one, name, later)).toBe(false);
      expect(await administration.retryTimer(undefined, 'a', later)).toBe(false);
      expect(
        await settle(underTest.journal, one, (await all())[1]!, [recordOf(1)]),
      ).toBeUndefined();
    });
  });
}
