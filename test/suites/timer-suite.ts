// What every journal does with the timers of host/engine/needs/timers.ts.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Journal } from '../../host/engine/needs/journal.ts';
import type { StoredTimer, TimerWrite } from '../../host/engine/needs/timers.ts';
import type { Awaitable } from '../../model/call.ts';
import type { EntityRef } from '../../model/entity.ts';
import type { TimerLimits } from '../../model/timer-limits.ts';
import type { SvcError } from '../../kit/svc-error.ts';
import { SET_MS, appendBeside, change, end, settle, timerAt } from '../support/timer-writes.ts';
import { answerTo, append, deletionAt, recordOf } from './journal-suite.ts';

/** A journal for one test. */
export interface TimersUnderTest {
  readonly journal: Journal;
  /** Returns the timers that are due, in the order in which they are fired, at most `limit`. */
  due(nowMs: number, limit?: number): Awaitable<readonly StoredTimer[]>;
  /** Whether the journal refuses U+0000 in a text. */
  readonly refusesNul?: boolean;
  /** Ends what the test used, whatever state it is in. */
  discard(): Promise<void>;
}

/** Later than all timers of the tests. */
const END_MS = SET_MS + 1e12;

function of(entity: number): EntityRef {
  return { component: 'Cart', id: `e${entity}` };
}

const LIMITS: TimerLimits = { max: 20, perEntityMax: 5 };

export function timerSuite(
  place: string,
  open: (limits: TimerLimits) => Promise<TimersUnderTest>,
): void {
  describe(`timers that are kept ${place}`, () => {
    const one: EntityRef = { component: 'Cart', id: 'one' };
    const two: EntityRef = { component: 'Cart', id: 'two' };
    let underTest: TimersUnderTest;
    let journal: Journal;

    beforeEach(async () => {
      underTest = await open(LIMITS);
      ({ journal } = underTest);
    });
    afterEach(async () => {
      await underTest.discard();
    });

    const all = async (): Promise<readonly StoredTimer[]> => underTest.due(END_MS);
    const dueNames = async (nowMs: number, limit?: number): Promise<readonly string[]> =>
      (await underTest.due(nowMs, limit)).map(({ name }) => name);
    const names = (): Promise<readonly string[]> => dueNames(END_MS);
    const only = async (): Promise<StoredTimer> => {
      const timers = await all();
      expect(timers).toHaveLength(1);
      return timers[0]!;
    };
    const gone = expect.objectContaining({ code: 'SVC_TIMER_GONE' }) as SvcError;
    const full = expect.objectContaining({ code: 'SVC_TIMERS_FULL' }) as SvcError;

    test('a timer that was set with records is read back as it was set', async () => {
      const id = underTest.refusesNul === true ? '😀 / % ä' : '😀 / % ä\u0000';
      const target: EntityRef = { component: 'Order', id };
      const input = String.raw`{"a":"\"\\'; DROP TABLE timer; --"}`;
      const traceParent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
      const set = timerAt('expire "it"', SET_MS + 5, {
        target,
        input,
        traceParent,
        attemptsMax: 3,
      });
      const beside = { timers: { changes: [set] } };
      expect(await appendBeside(journal, one, [recordOf(1)], beside)).toBeUndefined();
      const timer = await only();
      expect(timer).toEqual({
        number: timer.number,
        owner: one,
        name: 'expire "it"',
        target,
        command: 'expire',
        input,
        schedule: undefined,
        dueMs: SET_MS + 5,
        nextMs: SET_MS + 5,
        attempts: 0,
        attemptsMax: 3,
        fault: undefined,
        setMs: SET_MS,
        traceParent,
      });
      expect(await journal.timer(timer.number)).toEqual(timer);
      expect(await journal.timer(timer.number + 1)).toBeUndefined();
      expect(await journal.read(one, 0, 10)).toEqual([recordOf(1)]);
    });

    test('a recurring timer is due for the first time after the time at which it was set', async () => {
      const every = { kind: 'every', everyMs: 90_000 } as const;
      const cron = { kind: 'cron', expression: '* * * * *', zone: 'Europe/Berlin' } as const;
      await change(
        journal,
        one,
        timerAt('every', 0, { due: every }),
        timerAt('cron', 0, { due: cron }),
      );
      expect(
        (await all()).map(({ name, schedule, dueMs, nextMs }) => ({
          name,
          schedule,
          dueMs,
          nextMs,
        })),
      ).toEqual([
        { name: 'cron', schedule: cron, dueMs: SET_MS + 40_000, nextMs: SET_MS + 40_000 },
        { name: 'every', schedule: every, dueMs: SET_MS + 90_000, nextMs: SET_MS + 90_000 },
      ]);
    });

    test('timers that are due come in the order of their times and of being set, and no others', async () => {
      await change(journal, one, timerAt('late', 30), timerAt('b', 20), timerAt('a', 20));
      await change(journal, two, timerAt('first', 10), timerAt('negative', -10));
      expect(await names()).toEqual(['negative', 'first', 'b', 'a', 'late']);
      expect(await dueNames(20)).toEqual(['negative', 'first', 'b', 'a']);
      expect(await dueNames(19)).toEqual(['negative', 'first']);
      expect(await dueNames(END_MS, 2)).toEqual(['negative', 'first']);
    });

    test('a timer of the same name and owner is replaced, and gets another number', async () => {
      await change(journal, one, timerAt('expire', 10), timerAt('other', 11));
      await change(journal, two, timerAt('expire', 12));
      const [before] = await all();
      await change(journal, one, timerAt('expire', 13, { command: 'cancel' }));
      expect((await all()).map(({ owner, name, dueMs }) => [owner?.id, name, dueMs])).toEqual([
        ['one', 'other', 11],
        ['two', 'expire', 12],
        ['one', 'expire', 13],
      ]);
      expect(await journal.timer(before!.number)).toBeUndefined();
      expect((await all())[2]).toMatchObject({ command: 'cancel' });
      expect((await all())[2]!.number).not.toBe(before!.number);
    });

    test('no number is given twice, not even that of the newest timer after it is gone', async () => {
      const numbers = new Set<number>();
      for (let round = 0; round < 4; round++) {
        await change(journal, one, timerAt('expire', round));
        const timer = await only();
        numbers.add(timer.number);
        if (round % 2 === 0) await settle(journal, one, timer, []);
        else await change(journal, one, { kind: 'cancel', name: 'expire' });
      }
      expect(numbers.size).toBe(4);
    });

    test('changes are carried out in order', async () => {
      await change(
        journal,
        one,
        timerAt('a', 1),
        timerAt('b', 2),
        { kind: 'cancel', name: 'a' },
        { kind: 'cancel', name: 'never set' },
        timerAt('b', 3),
        { kind: 'cancel', name: 'c' },
        timerAt('c', 4),
      );
      expect((await all()).map(({ name, dueMs }) => [name, dueMs])).toEqual([
        ['b', 3],
        ['c', 4],
      ]);
    });

    test('a deletion removes all timers of its entity except those that its append sets', async () => {
      await change(journal, one, timerAt('a', 1), timerAt('b', 2));
      await change(journal, two, timerAt('a', 3));
      expect(await append(journal, one, recordOf(1))).toBeUndefined();
      expect(await names()).toEqual(['a', 'b', 'a']);
      const beside = { timers: { changes: [timerAt('b', 9)] } };
      await appendBeside(journal, one, [recordOf(2), deletionAt(3)], beside);
      expect((await all()).map(({ owner, name, dueMs }) => [owner?.id, name, dueMs])).toEqual([
        ['two', 'a', 3],
        ['one', 'b', 9],
      ]);
      await append(journal, one, deletionAt(4));
      await append(journal, two, deletionAt(1));
      expect(await all()).toEqual([]);
    });

    test('a firing that is answered removes its timer with its records, once', async () => {
      await change(journal, one, timerAt('expire', 1), timerAt('other', 2));
      const [timer] = await all();
      const fired = settle(journal, two, timer!, [recordOf(1)]);
      const again = settle(journal, two, timer!, [recordOf(2)]);
      expect([await fired, await again]).toEqual([undefined, gone]);
      expect(await names()).toEqual(['other']);
      expect(await journal.timer(timer!.number)).toBeUndefined();
      expect(await journal.read(two, 0, 10)).toEqual([recordOf(1)]);
    });

    test('a firing that is answered arms a recurring timer for the next occurrence', async () => {
      const due = { kind: 'every', everyMs: 1_000 } as const;
      await change(journal, one, timerAt('tick', 0, { due }));
      const first = await only();
      const retry = { kind: 'retry', nextMs: first.dueMs + 5, fault: 'trap' } as const;
      await end(journal, one, first, retry);
      const second = await only();
      const dueMs = first.dueMs + 1_000;
      expect(await end(journal, one, second, { kind: 'rearm', dueMs })).toBeUndefined();
      expect(await only()).toEqual({ ...first, dueMs, nextMs: dueMs });
      expect(await end(journal, one, second, { kind: 'remove' })).toEqual(gone);
    });

    test('a firing that failed is put off, keeps its occurrence, and counts the attempt', async () => {
      await change(journal, one, timerAt('expire', 10));
      const first = await only();
      const fault = 'the handler trapped: "ä"';
      expect(await end(journal, two, first, { kind: 'retry', nextMs: 500, fault })).toBeUndefined();
      expect(await underTest.due(499)).toEqual([]);
      expect(await only()).toEqual({ ...first, nextMs: 500, attempts: 1, fault });
      expect(await end(journal, two, first, { kind: 'remove' })).toEqual(gone);
      await end(journal, two, await only(), { kind: 'retry', nextMs: 900, fault: 'later' });
      expect(await only()).toEqual({ ...first, nextMs: 900, attempts: 2, fault: 'later' });
    });

    test('a dead timer is kept, is never due, and can be replaced and cancelled', async () => {
      await change(journal, one, timerAt('expire', 10));
      const first = await only();
      await end(journal, one, first, { kind: 'dead', fault: 'for ever' });
      const dead = { ...first, nextMs: undefined, attempts: 1, fault: 'for ever' };
      expect(await all()).toEqual([]);
      expect(await journal.timer(first.number)).toEqual(dead);
      expect(await end(journal, one, dead, { kind: 'remove' })).toEqual(gone);
      await change(journal, one, timerAt('expire', 11));
      expect(await journal.timer(first.number)).toBeUndefined();
      expect(await only()).toMatchObject({ dueMs: 11, attempts: 0, fault: undefined });
    });

    test.each<[string, (journal: Journal) => Promise<unknown>]>([
      ['cancelled', (to) => change(to, one, { kind: 'cancel', name: 'expire' })],
      ['replaced', (to) => change(to, one, timerAt('expire', 10))],
      ['removed with its entity', (to) => append(to, one, deletionAt(1))],
    ])('a firing whose timer was %s first stores nothing at all', async (_, first) => {
      await change(journal, one, timerAt('expire', 10));
      const timer = await only();
      const before = first(journal);
      const fired = appendBeside(journal, two, [recordOf(1)], {
        reply: answerTo('k', 1),
        timers: {
          firing: { occurrence: timer, end: { kind: 'remove' } },
          changes: [timerAt('next', 20)],
        },
      });
      await before;
      expect(await fired).toEqual(gone);
      expect(await journal.read(two, 0, 10)).toEqual([]);
      expect(await journal.answer(two, 'k')).toBeUndefined();
      expect(await names()).not.toContain('next');
    });

    test('a firing of its own entity ends first, then the entity is deleted, then timers are set', async () => {
      const due = { kind: 'every', everyMs: 1_000 } as const;
      await change(journal, one, timerAt('tick', 0, { due }), timerAt('other', 5));
      const tick = (await all()).find(({ name }) => name === 'tick')!;
      const rearm = { kind: 'rearm', dueMs: tick.dueMs + 1_000 } as const;
      await end(journal, one, tick, rearm, [timerAt('tick', 7)]);
      expect((await all()).map(({ name, dueMs }) => [name, dueMs])).toEqual([
        ['other', 5],
        ['tick', 7],
      ]);
      const second = (await all())[1]!;
      const last = appendBeside(journal, one, [deletionAt(1)], {
        timers: {
          firing: { occurrence: second, end: { kind: 'rearm', dueMs: 8 } },
          changes: [timerAt('after', 9)],
        },
      });
      expect(await last).toBeUndefined();
      expect(await names()).toEqual(['after']);
    });

    test('an append that does not fit the records of its entity leaves all timers as they were', async () => {
      await append(journal, one, recordOf(1));
      await change(journal, one, timerAt('expire', 10));
      const timer = await only();
      const records = [recordOf(1, '"conflict"'), deletionAt(2)];
      const conflict = settle(journal, one, timer, records, [timerAt('next', 20)]);
      expect((await conflict)?.code).toBe('SVC_JOURNAL_UNAVAILABLE');
      expect(await all()).toEqual([timer]);
    });

    test.each(['0 0 30 2 *', 'wrong'])(
      'a cron timer without an occurrence (%s) stores nothing',
      async (expression) => {
        const due = { kind: 'cron', expression, zone: '' } as const;
        const failed = appendBeside(journal, one, [recordOf(1)], {
          timers: { changes: [timerAt('before', 1), timerAt('tick', 0, { due })] },
        });
        const failure = await failed;
        expect(failure?.code).toBe('SVC_TIMER_INVALID');
        expect(failure?.message).toContain(`'${expression}'`);
        expect(await all()).toEqual([]);
        expect(await journal.read(one, 0, 10)).toEqual([]);
      },
    );

    test('an entity has at most its number of timers, and an append beyond it stores nothing', async () => {
      const five = ['a', 'b', 'c', 'd', 'e'].map((name, index) => timerAt(name, index));
      expect(await change(journal, one, ...five)).toBeUndefined();
      const beside = { timers: { changes: [timerAt('f', 9)] } };
      expect(await appendBeside(journal, one, [recordOf(1)], beside)).toEqual(full);
      expect(await journal.read(one, 0, 10)).toEqual([]);
      expect(await names()).toEqual(['a', 'b', 'c', 'd', 'e']);
      // The number after the append counts: of replaced, cancelled and settled ones, none is left.
      expect(await change(journal, one, timerAt('a', 10))).toBeUndefined();
      const cancel = { kind: 'cancel', name: 'b' } as const;
      expect(await change(journal, one, timerAt('f', 11), cancel)).toBeUndefined();
      const [settled] = await all();
      expect(await settle(journal, one, settled!, [], [timerAt('g', 12)])).toBeUndefined();
      expect(await names()).toEqual(['d', 'e', 'a', 'f', 'g']);
      const six = [...five, timerAt('f', 6)];
      expect(
        await appendBeside(journal, one, [deletionAt(1)], { timers: { changes: six } }),
      ).toEqual(full);
      expect(
        await appendBeside(journal, one, [deletionAt(1)], { timers: { changes: five } }),
      ).toBeUndefined();
      expect(await names()).toEqual(['a', 'b', 'c', 'd', 'e']);
    });

    test('the service has at most its number of timers, dead ones included', async () => {
      for (let entity = 0; entity < 4; entity++)
        for (const name of ['a', 'b', 'c', 'd', 'e'])
          expect(await change(journal, of(entity), timerAt(name, entity))).toBeUndefined();
      expect(await change(journal, one, timerAt('a', 1))).toEqual(full);
      await end(journal, two, (await all())[0]!, { kind: 'dead', fault: 'f' });
      expect(await change(journal, one, timerAt('a', 1))).toEqual(full);
      expect(await change(journal, of(1), timerAt('a', 9))).toBeUndefined();
      // A firing of the timer of another entity makes a place, and so does a deletion.
      const other = (await all())[0]!;
      const set = [timerAt('a', 1)];
      expect(await settle(journal, one, other, [], set)).toBeUndefined();
      expect(await change(journal, one, timerAt('b', 1))).toEqual(full);
      await append(journal, of(3), deletionAt(1));
      expect(await change(journal, one, timerAt('b', 1))).toBeUndefined();
    });

    test('an append that is not detached fails with the one before it, timers and all', async () => {
      await append(journal, one, recordOf(1));
      const outcomes = await Promise.all([
        append(journal, one, recordOf(1, '"conflict"')),
        change(journal, one, timerAt('dependent', 1)),
      ]);
      expect(outcomes.map((failure) => failure?.code)).toEqual([
        'SVC_JOURNAL_UNAVAILABLE',
        'SVC_JOURNAL_UNAVAILABLE',
      ]);
      expect(await all()).toEqual([]);
    });

    test('a detached append is stored although one before it failed, and its failure fails no other', async () => {
      await append(journal, one, recordOf(1));
      const never = { kind: 'cron', expression: '0 0 30 2 *', zone: '' } as const;
      const detached = (write: TimerWrite): Promise<SvcError | undefined> =>
        appendBeside(journal, one, [], { timers: { changes: [write] }, isDetached: true });
      const outcomes = await Promise.all([
        append(journal, one, recordOf(1, '"conflict"')),
        detached(timerAt('remind', 1)),
        append(journal, two, recordOf(1)),
      ]);
      expect(outcomes.map((failure) => failure?.code)).toEqual([
        'SVC_JOURNAL_UNAVAILABLE',
        undefined,
        undefined,
      ]);
      expect(await names()).toEqual(['remind']);
      const later = await Promise.all([
        detached(timerAt('wrong', 0, { due: never })),
        append(journal, one, recordOf(2)),
      ]);
      expect(later.map((failure) => failure?.code)).toEqual(['SVC_TIMER_INVALID', undefined]);
    });

    test('a closed journal refuses timers and is not asked for them', async () => {
      await journal.close();
      expect((await change(journal, one, timerAt('a', 1)))?.code).toBe('SVC_JOURNAL_UNAVAILABLE');
      await expect((async () => journal.timer(1))()).rejects.toMatchObject({
        code: 'SVC_JOURNAL_UNAVAILABLE',
      });
    });
  });
}
