// Timers in SQLite beyond what every journal does with them: damage, transactions that fail, the readers, and the alarm.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import type { TimerWrites } from '../../../../host/engine/needs/timers.ts';
import type { EntityRef } from '../../../../model/entity.ts';
import { TIMER_LIMITS_DEFAULT } from '../../../../model/timer-limits.ts';
import { Occurrences } from '../../../../host/schedule/occurrences.ts';
import { attachSqliteJournal } from '../../../../host/storage/sqlite/attached-journal.ts';
import { GroupCommit } from '../../../../host/storage/sqlite/group-commit.ts';
import {
  createJournalFile,
  journalPath,
  openForWriting,
} from '../../../../host/storage/sqlite/journal-file.ts';
import {
  type AppendBatch,
  decodeAppends,
  encodeAppend,
} from '../../../../host/storage/sqlite/journal-message.ts';
import { JournalQuota } from '../../../../host/storage/sqlite/journal-quota.ts';
import { readTimers } from '../../../../host/storage/sqlite/read-timers.ts';
import { openSqliteJournal } from '../../../../host/storage/sqlite/sqlite-journal.ts';
import { StoredTimers } from '../../../../host/storage/sqlite/stored-timers.ts';
import { TimerReader, openTimerReader } from '../../../../host/storage/sqlite/timer-reader.ts';
import { TimerAlarm } from '../../../../host/storage/timer-alarm.ts';
import { append, deletionAt, recordOf } from '../../../suites/journal-suite.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { appendBeside, change, end, settle, timerAt } from '../../../support/timer-writes.ts';
import { withJournal } from '../../../support/with-journal.ts';

const one: EntityRef = { component: 'Cart', id: 'one' };
const two: EntityRef = { component: 'Cart', id: 'two' };

function readerOf(dir: string): TimerReader {
  const reader = openTimerReader(journalPath(dir));
  onTestFinished(() => reader.close());
  return reader;
}

function edit(dir: string, sql: string): void {
  const database = new DatabaseSync(journalPath(dir));
  database.exec(sql);
  database.close();
}

/** The writer's part without its thread. */
function writer(timersMax = TIMER_LIMITS_DEFAULT.max) {
  const path = join(temporaryFolder(), 'journal.sqlite');
  createJournalFile(path);
  const database = openForWriting(path);
  onTestFinished(() => database.close());
  const limits = { ...TIMER_LIMITS_DEFAULT, max: timersMax };
  const timers = new StoredTimers(database, limits, new Occurrences());
  const commit = new GroupCommit(database, path, new JournalQuota(database, path, 0), timers);
  const gate = { refusalOf: () => undefined, failed: () => undefined };
  return {
    database,
    timers,
    reader: new TimerReader(database, path),
    store: (entity: EntityRef, writes: TimerWrites) => {
      const batch: AppendBatch = [];
      encodeAppend(batch, 0, entity, [], { timers: writes });
      const [decoded] = decodeAppends(batch);
      return commit.store([{ append: decoded!, gate }])[0]?.code;
    },
  };
}

test('timers are there when the journal is opened again, and are numbered on', async () => {
  const dir = temporaryFolder();
  await withJournal(dir, async (journal) => {
    expect(await change(journal, one, timerAt('a', 1), timerAt('b', 2))).toBeUndefined();
  });
  const before = readerOf(dir).due(10, 10).timers;
  await withJournal(dir, async (journal) => {
    expect(await journal.timer(before[0]!.number)).toEqual(before[0]);
    expect(await change(journal, one, timerAt('c', 3))).toBeUndefined();
    expect(await settle(journal, two, before[0]!, [recordOf(1)])).toBeUndefined();
    expect(await append(journal, one, recordOf(1), deletionAt(2))).toBeUndefined();
  });
  expect(readerOf(dir).due(10, 10).timers).toEqual([]);
});

test('a firing of an occurrence that is over stores nothing', async () => {
  const dir = temporaryFolder();
  await withJournal(dir, async (journal) => {
    expect(await change(journal, one, timerAt('a', 1))).toBeUndefined();
    const [a] = readerOf(dir).due(10, 10).timers;
    expect(await end(journal, one, a!, { kind: 'retry', nextMs: 9, fault: 'f' })).toBeUndefined();
    const gone = await settle(journal, two, a!, [recordOf(1)]);
    expect(gone).toMatchObject({ code: 'SVC_TIMER_GONE' });
    expect(await journal.read(two, 0, 10)).toEqual([]);
  });
});

test('a deletion that sets timers leaves these, and no other', async () => {
  const dir = temporaryFolder();
  await withJournal(dir, async (journal) => {
    expect(await change(journal, one, timerAt('a', 1), timerAt('b', 2))).toBeUndefined();
    const timers = { changes: [timerAt('c', 3)] };
    const records = [recordOf(1), deletionAt(2)];
    expect(await appendBeside(journal, one, records, { timers })).toBeUndefined();
  });
  expect(readerOf(dir).due(10, 10).timers).toMatchObject([{ name: 'c' }]);
});

test('a damaged timer is reported alone, fails its firing, and can be cancelled', async () => {
  const dir = temporaryFolder();
  await withJournal(dir, (journal) =>
    change(journal, one, timerAt('a', 1), timerAt('b', 2), timerAt('c', 3)),
  );
  const [a, b, c] = readerOf(dir).due(10, 10).timers;
  const corrupt = { code: 'SVC_JOURNAL_CORRUPT' };
  for (const damage of [
    "command = 'other'",
    'due_ms = 9223372036854775807',
    'next_ms = 1',
    'attempts = 1',
    'eno = 77',
    "schedule = '{'",
    "input = CAST(x'ff' AS TEXT)",
  ]) {
    edit(dir, `UPDATE timer SET ${damage} WHERE tno = ${b!.number}`);
    const reader = readerOf(dir);
    expect(reader.due(10, 10)).toMatchObject({ timers: [a, c], damaged: [corrupt] });
    expect(() => reader.timer(b!.number)).toThrow(expect.objectContaining(corrupt));
  }
  edit(dir, "UPDATE entity SET id = 'x'");
  expect(readerOf(dir).due(10, 10)).toMatchObject({
    timers: [],
    damaged: [corrupt, corrupt, corrupt],
  });
  edit(dir, "UPDATE entity SET id = 'one'");
  edit(dir, `UPDATE timer SET due_ms = 2, attempts = 0 WHERE tno = ${b!.number}`);
  await withJournal(dir, async (journal) => {
    const failed = await end(journal, one, b!, { kind: 'retry', nextMs: 9, fault: 'f' });
    expect(failed).toMatchObject(corrupt);
    expect(await settle(journal, two, a!, [recordOf(1)])).toBeUndefined();
  });
  edit(dir, "UPDATE timer SET eno = (SELECT eno FROM timer WHERE name = 'c')");
  await withJournal(dir, async (journal) => {
    expect(await change(journal, one, { kind: 'cancel', name: 'b' })).toBeUndefined();
  });
  expect(readerOf(dir).due(10, 10)).toMatchObject({ timers: [c], damaged: [] });
});

test('a long input is left out of what is due, and its damage is found when it is read', async () => {
  const dir = temporaryFolder();
  const input = JSON.stringify('x'.repeat(5_000));
  await withJournal(dir, (journal) =>
    change(journal, one, timerAt('long', 1, { input }), timerAt('short', 2)),
  );
  const [long, short] = readerOf(dir).due(10, 10).timers;
  expect([long!.input, short!.input]).toEqual([undefined, '{"why":"time"}']);
  expect(long).toMatchObject({ name: 'long', nextMs: 1, owner: one });
  expect(readerOf(dir).timer(long!.number)?.input).toBe(input);
  edit(dir, `UPDATE timer SET command = 'other' WHERE tno = ${long!.number}`);
  const damaged: unknown[] = [];
  const source = readTimers(readerOf(dir), (error) => damaged.push(error));
  expect(await source.due(10, 10, undefined)).toHaveLength(2);
  expect(await source.input(long!.number)).toBeUndefined();
  expect(damaged).toMatchObject([{ code: 'SVC_JOURNAL_CORRUPT' }]);
  expect(await source.input(1_000)).toBeUndefined();
  edit(dir, `UPDATE timer SET schedule = '{' WHERE tno = ${long!.number}`);
  expect(readerOf(dir).due(10, 10)).toMatchObject({
    timers: [{ name: 'short' }],
    damaged: [{ code: 'SVC_JOURNAL_CORRUPT' }],
  });
});

test('cancelling a timer of an entity of which nothing is stored, or ending a firing of it, stores no entity', async () => {
  const { database, reader, store } = writer();
  const entities = () => database.prepare('SELECT id FROM entity ORDER BY eno').all();
  expect(store(one, { changes: [{ kind: 'cancel', name: 'a' }] })).toBeUndefined();
  expect(entities()).toEqual([]);
  expect(store(one, { changes: [timerAt('a', 1), timerAt('b', 2)] })).toBeUndefined();
  const [a, b] = reader.due(10, 10).timers;
  const retry = { kind: 'retry', nextMs: 5, fault: 'f' } as const;
  expect(store(two, { firing: { occurrence: b!, end: retry }, changes: [] })).toBeUndefined();
  expect(
    store(two, { firing: { occurrence: a!, end: { kind: 'remove' } }, changes: [] }),
  ).toBeUndefined();
  expect(reader.due(10, 10).timers).toMatchObject([{ name: 'b', attempts: 1 }]);
  expect(entities()).toEqual([{ id: 'one' }]);
});

test('a transaction that fails leaves timers, and their count, as they were', () => {
  const { database, reader, store } = writer(3);
  expect(store(one, { changes: [timerAt('a', 1), timerAt('b', 2)] })).toBeUndefined();
  const timers = reader.due(10, 10).timers;
  const pages = Number(database.prepare('PRAGMA page_count').get()?.['page_count']);
  database.exec(`PRAGMA max_page_count = ${pages}`);
  const input = `"${'x'.repeat(100_000)}"`;
  const firing = { occurrence: timers[0]!, end: { kind: 'remove' } } as const;
  for (let round = 0; round < 3; round++)
    expect(store(one, { firing, changes: [timerAt('c', 3, { input })] })).toBe('SVC_DISK_FULL');
  expect(reader.due(10, 10).timers).toEqual(timers);
  database.exec('PRAGMA max_page_count = 1000000');
  expect(store(two, { changes: [timerAt('c', 3, { input })] })).toBeUndefined();
  expect(store(two, { changes: [timerAt('d', 4)] })).toBe('SVC_TIMERS_FULL');
  expect(reader.counts()).toEqual({ pending: 3, dead: 0, earliestMs: 1 });
});

test('an append without timers runs no statement on the table of timers', () => {
  const { database, timers } = writer();
  database.exec('DROP TABLE timer');
  timers.removeAll(1);
  expect(timers.mayExist).toBe(false);
});

test('the next timers to fire are found through an index, without sorting, page by page', () => {
  const { database, reader, store } = writer();
  for (let number = 0; number < 30; number++)
    store(
      { component: 'Cart', id: `e${number % 7}` },
      { changes: [timerAt(`${number}`, number % 5)] },
    );
  const all = reader.due(10, 100);
  expect(all.timers.map(({ nextMs }) => nextMs)).toEqual(
    Array.from({ length: 30 }, (_, index) => Math.floor(index / 6)),
  );
  const paged: unknown[] = [];
  for (let page = reader.due(10, 4); page.last !== undefined; page = reader.due(10, 4, page.last))
    paged.push(...page.timers);
  expect(paged).toEqual(all.timers);
  expect(reader.earliestMs()).toBe(0);
  expect(reader.earliestMs(3)).toBe(4);
  expect(reader.earliestMs(4)).toBeUndefined();
  for (const sql of reader.dueStatements) {
    const plan = database
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .map((row) => String(row['detail']));
    expect(plan.join('\n')).toMatch(/USING (COVERING )?INDEX timer_next/);
    expect(plan.join('\n')).not.toContain('TEMP B-TREE');
  }
});

test('all timers are listed by owner and state', async () => {
  const dir = temporaryFolder();
  await withJournal(dir, async (journal) => {
    await change(journal, one, timerAt('a', 1), timerAt('b', 2));
    await change(journal, two, timerAt('c', 3));
    const [first] = readerOf(dir).due(10, 1).timers;
    await end(journal, one, first!, { kind: 'dead', fault: 'f' });
  });
  const reader = readerOf(dir);
  const names = (...[filter, after = 0, limit = 10]: [object, number?, number?]): string[] =>
    reader.list(filter, after, limit).timers.map(({ name }) => name);
  expect(names({})).toEqual(['a', 'b', 'c']);
  expect(names({}, reader.list({}, 0, 2).last!.number, 2)).toEqual(['c']);
  expect(names({ owner: one })).toEqual(['a', 'b']);
  expect(names({ owner: one, state: 'dead' })).toEqual(['a']);
  expect(names({ state: 'pending' })).toEqual(['b', 'c']);
  expect(names({ owner: 'service' })).toEqual([]);
  expect(reader.counts()).toEqual({ pending: 2, dead: 1, earliestMs: 2 });
});

test('whoever waits for timers learns of those that are there, and of the first one that is set', async () => {
  const dir = temporaryFolder();
  const opened = await openSqliteJournal(dir);
  let exist = false;
  const waited = opened.timersExist().then(() => (exist = true));
  const journal = attachSqliteJournal(opened.connect());
  await append(journal, one, recordOf(1), deletionAt(2));
  expect(exist).toBe(false);
  await change(journal, one, timerAt('a', 1));
  await waited;
  await journal.close();
  await opened.close();
  const again = await openSqliteJournal(dir);
  await again.timersExist();
  await again.close();
});

test('the alarm ends a sleep when a timer is stored that is due earlier, and no other', async () => {
  const writing = new TimerAlarm();
  const firing = new TimerAlarm(writing.shared);
  let slept = false;
  const sleep = (count: number, untilMs: number): Promise<void> => {
    slept = false;
    return firing.sleep(count, untilMs, 60_000).then(() => {
      slept = true;
    });
  };
  let count = firing.look();
  const first = sleep(count, 1_000);
  writing.stored(Infinity);
  writing.stored(1_000);
  expect(new Int32Array(writing.shared)[0]).toBe(count);
  writing.stored(999);
  await first;
  expect(slept).toBe(true);
  // What is stored between the look and the sleep ends the sleep at once.
  count = firing.look();
  writing.stored(5_000);
  await sleep(count, 1_000);
  await firing.sleep(firing.look(), Infinity, 1);
});
