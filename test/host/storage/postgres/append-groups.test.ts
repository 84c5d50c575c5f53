// The groups in which appends are stored: their size, and what becomes of the others if one of them is refused.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { MessageChannel } from 'node:worker_threads';
import type { Journal, ReplyToStore } from '../../../../host/engine/needs/journal.ts';
import type { UserReport } from '../../../../host/storage/postgres/postgres-connection.ts';
import type { SvcError } from '../../../../kit/svc-error.ts';
import type { EntityRef } from '../../../../model/entity.ts';
import { answerTo, append, deletionAt, keep, recordOf } from '../../../suites/journal-suite.ts';
import { HeldCommits } from '../../../support/postgres/held-commits.ts';
import { JournalDatabase } from '../../../support/postgres/journal-database.ts';
import { PostgresServer } from '../../../support/postgres/postgres-server.ts';
import { appendBeside, change, SET_MS, timerAt } from '../../../support/timer-writes.ts';

const one: EntityRef = { component: 'Cart', id: 'one' };
const two: EntityRef = { component: 'Cart', id: 'two' };
const NUL = '\0';

let journals: JournalDatabase;
let held: HeldCommits;
let journal: Journal;
let reports: UserReport[];

beforeAll(async () => {
  const server = await PostgresServer.shared('18');
  journals = await JournalDatabase.make(server);
  held = await HeldCommits.of(server, journals);
});
afterAll(async () => {
  await held.close();
  await journals.database.end();
});
beforeEach(async () => {
  await journals.empty();
  reports = [];
  const { port1, port2 } = new MessageChannel();
  port2.on('message', (report: UserReport) => reports.push(report));
  port2.unref();
  journal = journals.attach({ ports: [port1] });
});
afterEach(async () => {
  await held.release();
  await journal.close();
});

/** The groups of which the journal has reported. */
function groups(): readonly (readonly [appends: number, records: number])[] {
  return reports.flatMap((report) =>
    report.kind === 'stored' ? [[report.appends, report.records] as const] : [],
  );
}

function codes(outcomes: readonly (SvcError | undefined)[]): readonly (string | undefined)[] {
  return outcomes.map((outcome) => outcome?.code);
}

describe('the size of a group', () => {
  test('is bounded in records, and a single append may have more', async () => {
    const many = Array.from({ length: 2_500 }, (_, index) => recordOf(index + 1));
    const outcomes = [append(journal, one, ...many), append(journal, two, recordOf(1))];
    for (let n = 0; n < 2_100; n++)
      outcomes.push(append(journal, { component: 'Cart', id: `e${n}` }, recordOf(1)));
    for (const outcome of await Promise.all(outcomes)) expect(outcome).toBeUndefined();
    await expect.poll(() => groups().reduce((sum, [appends]) => sum + appends, 0)).toBe(2_102);
    expect(groups()[0]).toEqual([1, 2_500]);
    for (const [, records] of groups().slice(1)) expect(records).toBeLessThanOrEqual(2_000);
  });

  test('is bounded in appends that have no records', async () => {
    const outcomes = Array.from({ length: 2_001 }, (_, n) =>
      keep(journal, { component: 'Cart', id: `e${n}` }, [], answerTo('k', 1)),
    );
    for (const outcome of await Promise.all(outcomes)) expect(outcome).toBeUndefined();
    await expect.poll(() => groups().map(([appends]) => appends)).toEqual([2_000, 1]);
  });

  test.each([
    ['events', (id: EntityRef, text: string) => append(journal, id, recordOf(1, text))],
    [
      'replies',
      (id: EntityRef, text: string) =>
        keep(journal, id, [], { ...answerTo('k', 1), outcome: { kind: 'reply', json: text } }),
    ],
    [
      'timers',
      (id: EntityRef, text: string) => change(journal, id, timerAt('t', SET_MS, { input: text })),
    ],
  ])('is bounded in the text of %s', async (_what, store) => {
    const text = JSON.stringify('x'.repeat(1_500_000));
    const outcomes = Array.from({ length: 5 }, (_, n) =>
      store({ component: 'Cart', id: `e${n}` }, text),
    );
    for (const outcome of await Promise.all(outcomes)) expect(outcome).toBeUndefined();
    await expect.poll(() => groups().map(([appends]) => appends)).toEqual([2, 2, 1]);
  });
});

describe('an append that the database refuses for its content', () => {
  test('fails with those behind it, and no other', async () => {
    const damaged = { ...recordOf(2), by: `a${NUL}b` };
    const outcomes = [
      append(journal, one, recordOf(1)),
      append(journal, one, damaged),
      append(journal, two, recordOf(1)),
      append(journal, one, recordOf(3)),
      keep(journal, one, [], answerTo('k', 1)),
      change(journal, one, timerAt('t', SET_MS)),
      append(journal, two, recordOf(2)),
    ];
    expect(codes(await Promise.all(outcomes))).toEqual([
      undefined,
      'SVC_JOURNAL_UNAVAILABLE',
      undefined,
      'SVC_JOURNAL_UNAVAILABLE',
      'SVC_JOURNAL_UNAVAILABLE',
      'SVC_JOURNAL_UNAVAILABLE',
      undefined,
    ]);
    expect(await journal.read(one, 0, 9)).toEqual([recordOf(1)]);
    expect(await journal.read(two, 0, 9)).toEqual([recordOf(1), recordOf(2)]);
    expect(await journal.answer(one, 'k')).toBeUndefined();
    expect(await journals.number('SELECT count(*) FROM svc.timer')).toBe(0);
    expect(await append(journal, one, recordOf(2))).toBeUndefined();
  });

  test('fails what is still queued behind it, even where its number fits', async () => {
    await held.hold();
    const first = append(journal, two, recordOf(1));
    await held.waiting();
    const damaged: ReplyToStore = { ...answerTo('k', 1), digest: NUL };
    const outcomes = [keep(journal, one, [], damaged), append(journal, one, recordOf(1))];
    await held.release();
    expect(codes(await Promise.all([first, ...outcomes]))).toEqual([
      undefined,
      'SVC_JOURNAL_UNAVAILABLE',
      'SVC_JOURNAL_UNAVAILABLE',
    ]);
    expect(await journal.read(one, 0, 9)).toEqual([]);
  });
});

describe('groups with changes of timers', () => {
  test('store everything but the append that is refused, and what is behind it', async () => {
    const gone = { number: 99, dueMs: SET_MS, attempts: 0 };
    const firing = { occurrence: gone, end: { kind: 'remove' } as const };
    const outcomes = [
      append(journal, two, recordOf(1)),
      appendBeside(journal, one, [recordOf(1)], { timers: { firing, changes: [] } }),
      append(journal, one, recordOf(2)),
      appendBeside(journal, two, [recordOf(2)], { timers: { changes: [timerAt('t', SET_MS)] } }),
    ];
    expect(codes(await Promise.all(outcomes))).toEqual([
      undefined,
      'SVC_TIMER_GONE',
      'SVC_JOURNAL_UNAVAILABLE',
      undefined,
    ]);
    expect(await journal.read(one, 0, 9)).toEqual([]);
    expect(await journal.read(two, 0, 9)).toHaveLength(2);
    expect(await journals.number('SELECT count(*) FROM svc.timer')).toBe(1);
  });

  test('a detached append fails alone, and is stored although one before it has failed', async () => {
    expect(await change(journal, two, timerAt('t', SET_MS))).toBeUndefined();
    const number = await journals.number('SELECT number FROM svc.timer');
    const detached = (of: number) =>
      appendBeside(journal, one, [], {
        isDetached: true,
        timers: {
          firing: {
            occurrence: { number: of, dueMs: SET_MS, attempts: 0 },
            end: { kind: 'retry', nextMs: SET_MS + 1, fault: 'why' },
          },
          changes: [],
        },
      });
    const outcomes = [
      append(journal, one, recordOf(2)),
      detached(number + 1),
      detached(number),
      append(journal, two, recordOf(1)),
    ];
    expect(codes(await Promise.all(outcomes))).toEqual([
      'SVC_JOURNAL_UNAVAILABLE',
      'SVC_TIMER_GONE',
      undefined,
      undefined,
    ]);
    expect(await journals.number('SELECT attempts FROM svc.timer')).toBe(1);
  });

  test('a detached append is not stored after a takeover', async () => {
    expect(await change(journal, two, timerAt('t', SET_MS))).toBeUndefined();
    const number = await journals.number('SELECT number FROM svc.timer');
    await journals.expire('node');
    await journals.join('other');
    const occurrence = { number, dueMs: SET_MS, attempts: 0 };
    const firing = { occurrence, end: { kind: 'dead', fault: 'why' } as const };
    const outcome = appendBeside(journal, one, [], {
      isDetached: true,
      timers: { firing, changes: [] },
    });
    expect((await outcome)?.code).toBe('SVC_ENTITY_MOVED');
    expect(await journals.number('SELECT attempts FROM svc.timer')).toBe(0);
  });
});

describe('a journal that is full', () => {
  test('stores nothing more of any kind, and goes on once there is room', async () => {
    expect(await append(journal, one, recordOf(1))).toBeUndefined();
    journals.room.measured(900, 1_000);
    const outcomes = [
      append(journal, one, recordOf(2)),
      append(journal, one, recordOf(3)),
      keep(journal, two, [], answerTo('k', 1)),
      change(journal, two, timerAt('t', SET_MS)),
      append(journal, two, deletionAt(1)),
    ];
    expect(codes(await Promise.all(outcomes))).toEqual([
      'SVC_JOURNAL_FULL',
      'SVC_JOURNAL_UNAVAILABLE',
      'SVC_JOURNAL_FULL',
      'SVC_JOURNAL_UNAVAILABLE',
      'SVC_JOURNAL_UNAVAILABLE',
    ]);
    expect(await journal.read(one, 0, 9)).toEqual([recordOf(1)]);
    journals.room.measured(900, 0);
    expect(await append(journal, one, recordOf(2))).toBeUndefined();
    expect(await append(journal, two, recordOf(1))).toBeUndefined();
  });
});

describe('the module that writes', () => {
  test('is named by each record, also by those that come before it is noted', async () => {
    journals.module.announce();
    const writing = append(journal, one, recordOf(1));
    // The slices are claimed, and nothing is written.
    expect(await journal.read(one, 0, 9)).toEqual([]);
    journals.module.note(7);
    expect(await writing).toBeUndefined();
    expect(await journals.database.sql('SELECT module FROM svc.journal')).toEqual([{ module: 7 }]);
  });
});
