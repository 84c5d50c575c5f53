import { describe, expect, test } from 'vitest';
import type { Journal } from '../../../../host/engine/needs/journal.ts';
import type { EntityRef } from '../../../../model/entity.ts';
import type { SvcError } from '../../../../kit/svc-error.ts';
import { eventFault } from '../../../../host/engine/entity/event-fault.ts';
import { COUNTER, COUNTER_EVENT, added } from '../../../support/counter-guest.ts';
import { EngineUnderTest } from '../../../support/engine-under-test.ts';
import { type HeldJournal, diskFailure } from '../../../support/held-journal.ts';

test('an event that cannot be read has one number, its own, also where several were folded at once', () => {
  const problem = 'event 3 of 7: title: must be a string';
  expect(eventFault({ component: COUNTER, id: 'a' }, 41, problem).message).toBe(
    `This version cannot read event 43 of entity 'a' of component '${COUNTER}': 'title: must be a string'. ` +
      'Run a version whose event type still accepts what is stored.',
  );
});

async function filled(count: number): Promise<HeldJournal> {
  const it = new EngineUnderTest();
  await it.outcome('a', 'effect', { events: Array.from({ length: count }, (_, n) => added(n)) });
  return it.journal;
}

/** The journal, and what it was asked. `until`: of the last of those events; the others are had by records. */
async function quick(count: number, until: number) {
  const journal = await filled(count);
  const events = (await journal.read({ component: COUNTER, id: 'a' }, 0, count)).flatMap((record) =>
    record.kind === 'event' ? [record.event] : [],
  );
  journal.reads.length = 0;
  const asked: number[] = [];
  Object.assign(journal, {
    eventsAfter: (_: EntityRef, afterSeq: number, limit: number) => {
      asked.push(afterSeq);
      return events.slice(afterSeq, Math.min(afterSeq + limit, until));
    },
  } satisfies Pick<Journal, 'eventsAfter'>);
  return { journal, asked };
}

describe('the history', () => {
  test('is read in pages and folded in growing batches, and the last page may be full', async () => {
    const journal = await filled(2_000);
    const it = new EngineUnderTest({ journal });
    journal.reads.length = 0;
    expect(await it.outcome('a', 'history')).toHaveLength(2_000);
    expect(it.guest.folds).toEqual([128, 256, 512, 104, 1_000]);
    expect(journal.reads).toEqual([`${COUNTER}/a>0`, `${COUNTER}/a>1000`, `${COUNTER}/a>2000`]);
  });

  test('is folded a few large events at a time', async () => {
    const it = new EngineUnderTest();
    const large = {
      manifest: COUNTER_EVENT,
      json: JSON.stringify({ type: 'Added', by: 1, note: 'x'.repeat(50 * 1024) }),
    };
    await it.storeEvents('a', [added(1), ...Array.from({ length: 7 }, () => large), added(1)]);
    expect(await it.outcome('a', 'history')).toHaveLength(9);
    // Until 128 Ki units are reached.
    expect(it.guest.folds).toEqual([4, 3, 2]);
  });

  test('with an event that the module cannot read names component, id and number', async () => {
    const journal = await filled(1_500);
    const unknown = { manifest: COUNTER_EVENT, json: '{"type":"Unk\\u001bnown"}' };
    await new Promise((resolve) => {
      journal.append(
        { component: COUNTER, id: 'a' },
        [{ kind: 'event', seq: 1_501, timeMs: 0, event: unknown }],
        resolve,
      );
    });
    for (const later of [false, true]) {
      const it = new EngineUnderTest({ journal, later });
      const failure = await it.call('a', 'total').catch((error: unknown) => error as SvcError);
      expect(failure).toMatchObject({ code: 'SVC_EVENT_UNREADABLE' });
      expect((failure as SvcError).message).toContain(
        `event 1501 of entity 'a' of component '${COUNTER}': 'unknown type Unk\\u{1b}nown'`,
      );
      expect(it.faults.map(({ handler }) => handler)).toEqual([undefined]);
      expect(it.guest.openCount).toBe(0);
      expect(await it.outcome('b', 'add', 1)).toEqual(expect.any(Number));
    }
  });

  test.each([
    ['a hole', [1, 3]],
    ['a double', [1, 1]],
    ['a wrong beginning', [2, 3]],
  ])('with %s in its numbers is SVC_JOURNAL_CORRUPT', async (_, seqs) => {
    const it = new EngineUnderTest();
    const records = seqs.map(
      (seq) => ({ kind: 'event', seq, timeMs: 0, event: added(1) }) as const,
    );
    it.journal.incarnation = async () => ({
      afterSeq: 0,
      snapshot: undefined,
      records,
      isWhole: true,
    });
    const failure = await it.call('a', 'add', 1).catch((error: unknown) => error as SvcError);
    expect(failure).toMatchObject({ code: 'SVC_JOURNAL_CORRUPT' });
    expect((failure as SvcError).message).toContain(`entity 'a' of component '${COUNTER}'`);
    expect(it.journal.appendCount).toBe(0);
    expect(it.guest.openCount).toBe(0);
  });

  test('that cannot be read fails the calls that wait for it, and is tried anew by the next', async () => {
    const it = new EngineUnderTest();
    it.journal.readFailure = diskFailure();
    const waiting = [it.outcome('a', 'add', 1), it.outcome('a', 'total')];
    expect(await Promise.all(waiting)).toEqual([
      'failed SVC_JOURNAL_UNAVAILABLE',
      'failed SVC_JOURNAL_UNAVAILABLE',
    ]);
    it.journal.readFailure = undefined;
    expect(await it.outcome('a', 'add', 1)).toBe(1);
  });

  test('that traps fails the calls that wait for it, all of them at once', async () => {
    const journal = await filled(3);
    const poison = { manifest: COUNTER_EVENT, json: '{"type":"Poison"}' };
    await new Promise((resolve) => {
      journal.append(
        { component: COUNTER, id: 'a' },
        [{ kind: 'event', seq: 4, timeMs: 0, event: poison }],
        resolve,
      );
    });
    const it = new EngineUnderTest({ journal });
    const outcomes = ['add', 'total', 'noop'].map((name) => it.outcome('a', name, 1));
    expect(await Promise.all(outcomes)).toEqual(['failed trap', 'failed trap', 'failed trap']);
    // Once together, then one by one up to the one that traps.
    expect(it.guest.folds).toEqual([4, 1, 1, 1, 1]);
    expect(it.guest.openCount).toBe(0);
  });

  test.each([false, true])(
    'that is more than the guest can fold in one call is folded one by one; answers later: %s',
    async (later) => {
      const journal = await filled(1_500);
      const it = new EngineUnderTest({ journal, later });
      it.guest.foldEventsMax = 400;
      expect(await it.outcome('a', 'history')).toHaveLength(1_500);
      expect(it.guest.violations).toEqual([]);
      expect(it.guest.openCount).toBe(1);
    },
  );

  test('of large events is read in small pages', async () => {
    const journal = await filled(0);
    const entity = { component: COUNTER, id: 'large' };
    const note = 'x'.repeat(300_000);
    const event = { manifest: COUNTER_EVENT, json: JSON.stringify({ type: 'Added', by: 1, note }) };
    const records = Array.from(
      { length: 9 },
      (_, index) => ({ kind: 'event', seq: index + 1, timeMs: 0, event }) as const,
    );
    await new Promise((resolve) => journal.append(entity, records, resolve));
    const it = new EngineUnderTest({ journal });
    journal.reads.length = 0;
    expect(await it.outcome('large', 'total')).toBe(9);
    expect(journal.reads).toEqual([0, 4, 8, 9].map((seq) => `${COUNTER}/large>${seq}`));
  });
});

describe('events that a journal has without their records', () => {
  test('are folded after those of the first records, and the records after them', async () => {
    const { journal, asked } = await quick(4_500, 2_350);
    const it = new EngineUnderTest({ journal });
    expect(await it.outcome('a', 'history')).toEqual(Array.from({ length: 4_500 }, (_, n) => n));
    // Again after as many records as were asked for.
    expect(asked).toEqual([100, 1_100, 2_100, 3_350, 4_350]);
    expect(journal.reads).toEqual(
      [0, 2_350, 3_350, 4_350, 4_500].map((seq) => `${COUNTER}/a>${seq}`),
    );
  });

  test('are not asked for where the first records are all that there are', async () => {
    const { journal, asked } = await quick(99, 99);
    const it = new EngineUnderTest({ journal });
    expect(await it.outcome('a', 'history')).toHaveLength(99);
    expect(asked).toEqual([]);
  });

  test('say nothing of a hole that follows them: the records do', async () => {
    const { journal } = await quick(600, 300);
    const read = journal.read.bind(journal);
    journal.read = async (...which) => (await read(...which)).slice(1);
    const it = new EngineUnderTest({ journal });
    const failure = await it.call('a', 'total').catch((error: unknown) => error as SvcError);
    expect(failure).toMatchObject({ code: 'SVC_JOURNAL_CORRUPT' });
    expect((failure as SvcError).message).toContain('record 302 stands where record 301 belongs');
    expect(it.guest.openCount).toBe(0);
  });

  test('and cannot be read by the module are named by their number', async () => {
    const { journal } = await quick(1_500, 1_500);
    const eventsAfter = (journal as Journal).eventsAfter!.bind(journal);
    Object.assign(journal, {
      eventsAfter: (...which: Parameters<typeof eventsAfter>) =>
        eventsAfter(...which).map((event, index) =>
          which[1] + index + 1 === 1_234 ? { ...event, json: '{"type":"Unknown"}' } : event,
        ),
    });
    const it = new EngineUnderTest({ journal });
    const failure = await it.call('a', 'total').catch((error: unknown) => error as SvcError);
    expect(failure).toMatchObject({ code: 'SVC_EVENT_UNREADABLE' });
    expect((failure as SvcError).message).toContain('event 1234 of entity');
  });
});

test('a guest that cannot open an entity fails the call, and the next one tries again', async () => {
  const it = new EngineUnderTest();
  it.guest.openFailure = new Error('no instance');
  expect(await it.outcome('a', 'add', 1)).toBe('failed Error: no instance');
  it.guest.openFailure = undefined;
  expect(await it.outcome('a', 'add', 1)).toBe(1);
});
