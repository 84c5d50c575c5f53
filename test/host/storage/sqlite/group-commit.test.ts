import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { TIMER_LIMITS_DEFAULT } from '../../../../model/timer-limits.ts';
import { Occurrences } from '../../../../host/schedule/occurrences.ts';
import { type AppendGate, GroupCommit } from '../../../../host/storage/sqlite/group-commit.ts';
import { createJournalFile, openForWriting } from '../../../../host/storage/sqlite/journal-file.ts';
import type { Append } from '../../../../host/storage/sqlite/journal-message.ts';
import { JournalQuota } from '../../../../host/storage/sqlite/journal-quota.ts';
import { KIND_EVENT } from '../../../../host/storage/sqlite/record-kind.ts';
import { StoredTimers } from '../../../../host/storage/sqlite/stored-timers.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const open: AppendGate = { refusalOf: () => undefined, failed: () => undefined };

function appendOf(id: string, firstSeq: number, json = '{}'): Append {
  const origin = { trace: null, key: null, by: null, answer: undefined, timers: undefined };
  const fields = [KIND_EVENT, 1, null, null, 'E', json];
  return { seenCount: 0, component: 'Cart', id, firstSeq, ...origin, fields };
}

function journal() {
  const path = join(temporaryFolder(), 'journal.sqlite');
  createJournalFile(path);
  const database = openForWriting(path);
  onTestFinished(() => database.close());
  const timers = new StoredTimers(database, TIMER_LIMITS_DEFAULT, new Occurrences());
  const commit = new GroupCommit(database, path, new JournalQuota(database, path, 0), timers);
  const messages: (string | undefined)[] = [];
  return {
    database,
    /** Of each append's failure, in order. */
    messages,
    store: (...appends: Append[]) =>
      commit.store(appends.map((append) => ({ append, gate: open }))).map((failure) => {
        messages.push(failure?.message);
        return failure?.code;
      }),
  };
}

function rows(database: DatabaseSync): unknown[] {
  return database
    .prepare('SELECT pos, id, seq FROM journal JOIN entity USING (eno) ORDER BY pos')
    .all()
    .map(({ pos, id, seq }) => `${String(pos)} ${String(id)} ${String(seq)}`);
}

test('a full disk fails the whole transaction, and there is room again for the next', () => {
  const { database, store } = journal();
  const pages = database.prepare('PRAGMA page_count').get()?.['page_count'] as number;
  expect(store(appendOf('a', 1))).toEqual([undefined]);
  database.exec(`PRAGMA max_page_count = ${pages + 2}`);
  const large = 'x'.repeat(50_000);
  expect(store(appendOf('b', 1), appendOf('a', 2, large), appendOf('c', 1))).toEqual([
    'SVC_DISK_FULL',
    'SVC_DISK_FULL',
    'SVC_DISK_FULL',
  ]);
  expect(rows(database)).toEqual(['1 a 1']);
  database.exec('PRAGMA max_page_count = 1000000');
  expect(store(appendOf('b', 1), appendOf('a', 2, large), appendOf('c', 1))).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  expect(rows(database)).toEqual(['1 a 1', '2 b 1', '3 a 2', '4 c 1']);
});

test('a journal that another program writes to says so, and is there again afterwards', () => {
  const { database, store, messages } = journal();
  database.exec('PRAGMA busy_timeout = 0');
  const other = new DatabaseSync(database.location()!);
  other.exec('BEGIN IMMEDIATE');
  expect(store(appendOf('a', 1))).toEqual(['SVC_JOURNAL_UNAVAILABLE']);
  expect(messages.at(-1)).toContain('Close the other program');
  other.close();
  expect(store(appendOf('a', 1))).toEqual([undefined]);
  expect(rows(database)).toEqual(['1 a 1']);
});

test('a conflict that only the database knows of fails its append alone', () => {
  const { database, store } = journal();
  expect(store(appendOf('a', 1), appendOf('b', 1))).toEqual([undefined, undefined]);
  // Behind the back of the only writer: what a second one would do.
  database.exec(
    `INSERT INTO journal SELECT 1000, eno, 2, 0, 1, 'E', '{}', 0, 0, NULL, NULL, NULL FROM entity WHERE id = 'a';
     INSERT INTO place_new SELECT eno, 2, 1000 FROM entity WHERE id = 'a'`,
  );
  expect(store(appendOf('b', 2), appendOf('a', 2), appendOf('c', 1))).toEqual([
    undefined,
    'SVC_JOURNAL_UNAVAILABLE',
    undefined,
  ]);
});

test('an append that SQLite does not take fails alone', () => {
  const { database, store } = journal();
  const bad: Append = { ...appendOf('bad', 1), fields: [KIND_EVENT, 1.5, null, null, 'E', '{}'] };
  expect(store(appendOf('a', 1), bad, appendOf('b', 1))).toEqual([
    undefined,
    'SVC_JOURNAL_UNAVAILABLE',
    undefined,
  ]);
  expect(rows(database)).toEqual(['1 a 1', '2 b 1']);
});

test('an empty group is stored', () => {
  const { store } = journal();
  expect(store()).toEqual([]);
});
