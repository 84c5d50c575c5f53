// Consumers in SQLite beyond what every journal does with them: restarts, damage, and settlements that fail.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import type { StoredLane } from '../../../../host/engine/needs/consumers.ts';
import type { EntityRef } from '../../../../model/entity.ts';
import { attachSqliteJournal } from '../../../../host/storage/sqlite/attached-journal.ts';
import { openConsumerReader } from '../../../../host/storage/sqlite/consumer-reader.ts';
import { journalPath } from '../../../../host/storage/sqlite/journal-file.ts';
import { openSqliteJournal } from '../../../../host/storage/sqlite/sqlite-journal.ts';
import { append, recordOf } from '../../../suites/journal-suite.ts';
import { consumerReplySuite, consumerStoreSuite } from '../../../suites/consumer-store-suite.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const LEDGER = { id: 'ledger', start: 'beginning' } as const;
const one: EntityRef = { component: 'Cart', id: 'one' };
const PARKED: StoredLane = {
  entity: one,
  seq: 1,
  attempts: 2,
  round: 1,
  nextMs: undefined,
  reason: 'no',
};
const corrupt = expect.objectContaining({ code: 'SVC_JOURNAL_CORRUPT' }) as Error;

async function openConsumers() {
  const dir = mkdtempSync(join(tmpdir(), 'svc-test-'));
  const opened = await openSqliteJournal(dir);
  const journal = attachSqliteJournal(opened.connect());
  const reader = openConsumerReader(journalPath(dir));
  let isDiscarded = false;
  return {
    journal,
    writer: opened,
    reader,
    async discard() {
      if (isDiscarded) return;
      isDiscarded = true;
      reader.close();
      await journal.close();
      await opened.close();
      rmSync(dir, { recursive: true });
    },
  };
}

consumerStoreSuite('in SQLite', openConsumers);
consumerReplySuite('in SQLite', openConsumers);

function edit(dir: string, sql: string): void {
  const database = new DatabaseSync(journalPath(dir));
  database.exec(sql);
  database.close();
}

/** A closed journal in which the consumer has parked an entity. */
async function parkedJournal(): Promise<string> {
  const dir = temporaryFolder();
  const opened = await openSqliteJournal(dir);
  const journal = attachSqliteJournal(opened.connect());
  await append(journal, one, recordOf(1));
  await opened.settleConsumer(LEDGER, { position: '1', lanes: [PARKED], rejoined: [] });
  await journal.close();
  await opened.close();
  return dir;
}

function readerOf(dir: string) {
  const reader = openConsumerReader(journalPath(dir));
  onTestFinished(() => reader.close());
  return reader;
}

test('consumers and lanes are there after a restart', async () => {
  const reader = readerOf(await parkedJournal());
  expect(reader.consumer('ledger')).toEqual({ ...LEDGER, position: '1' });
  expect(reader.lanes('ledger', 10)).toEqual([PARKED]);
});

test.each([
  ["UPDATE consumer SET start = 'now'", 'its row'],
  ['UPDATE consumer SET pos = 9223372036854775807', 'its row'],
  ['UPDATE lane SET eno = 77', 'a lane of no entity'],
])('damage by %s is found', async (sql, what) => {
  const dir = await parkedJournal();
  edit(dir, sql);
  const reader = readerOf(dir);
  const read = () => [reader.consumer('ledger'), reader.lanes('ledger', 10)];
  expect(read).toThrow(corrupt);
  expect(read).toThrow(what);
});

test.each([
  'UPDATE lane SET seq = 2',
  'UPDATE lane SET next_ms = 1',
  "UPDATE lane SET reason = ''",
  'UPDATE lane SET attempts = -9223372036854775808',
  'UPDATE lane SET round = 0',
])('a lane that is damaged by %s is read as one whose number is not known', async (sql) => {
  const dir = await parkedJournal();
  edit(dir, sql);
  const [lane] = readerOf(dir).lanes('ledger', 10);
  expect(lane).toMatchObject({ entity: one, seq: 0, nextMs: undefined, isDamaged: true });
  expect(lane!.reason).toContain('damaged');
});

test('a settlement with an entity that the journal does not have changes nothing', async () => {
  const dir = await parkedJournal();
  const opened = await openSqliteJournal(dir);
  onTestFinished(() => opened.close());
  const foreign = { ...PARKED, entity: { component: 'Cart', id: 'nobody' } };
  await expect(
    opened.settleConsumer(LEDGER, { position: '9', lanes: [foreign], rejoined: [one] }),
  ).rejects.toEqual(corrupt);
  const reader = readerOf(dir);
  expect(reader.consumer('ledger')).toEqual({ ...LEDGER, position: '1' });
  expect(reader.lanes('ledger', 10)).toEqual([PARKED]);
});
