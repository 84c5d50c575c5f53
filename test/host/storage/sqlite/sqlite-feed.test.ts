import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { attachSqliteJournal } from '../../../../host/storage/sqlite/attached-journal.ts';
import { openSqliteFeed } from '../../../../host/storage/sqlite/sqlite-feed.ts';
import { openSqliteJournal } from '../../../../host/storage/sqlite/sqlite-journal.ts';
import { feedSuite, readToEnd } from '../../../suites/feed-suite.ts';
import { append, recordOf } from '../../../suites/journal-suite.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { withJournal } from '../../../support/with-journal.ts';

feedSuite('in SQLite', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'svc-test-'));
  const opened = await openSqliteJournal(dir);
  const journal = attachSqliteJournal(opened.connect());
  return {
    journal,
    feed: () => openSqliteFeed({ dir, end: opened.end }),
    async discard() {
      await journal.close();
      await opened.close();
      rmSync(dir, { recursive: true });
    },
  };
});

const entity = { component: 'cart', id: 'one' };
const components = new Set(['cart']);

/** Returns a folder whose journal has three records, after its database was changed with `sql`. */
async function damagedFolder(sql: string): Promise<string> {
  const dir = temporaryFolder();
  await withJournal(dir, (journal) =>
    append(journal, entity, ...[1, 2, 3].map((n) => recordOf(n))),
  );
  const database = new DatabaseSync(join(dir, 'journal.sqlite'));
  database.exec(sql);
  database.close();
  return dir;
}

describe('a damaged journal', () => {
  test.each([
    ['a changed text', `UPDATE journal SET json = replace(json, '2', '3') WHERE pos = 2`],
    ['a record of another entity', `UPDATE journal SET eno = 99 WHERE pos = 2`],
    ['a number out of range', `UPDATE journal SET time_ms = 9223372036854775807 WHERE pos = 2`],
    ['a missing record', `DELETE FROM journal WHERE pos = 2`],
  ])('is read up to the damage, and no further: %s', async (_, sql) => {
    const dir = await damagedFolder(sql);
    const feed = openSqliteFeed({ dir, end: new SharedArrayBuffer(8) });
    const page = feed.read(feed.start, 10, components);
    expect(page.records.map(({ record }) => record.seq)).toEqual([1]);
    expect(() => feed.read(page.position, 10, components)).toThrow(
      expect.objectContaining({ code: 'SVC_JOURNAL_CORRUPT' }) as Error,
    );
    feed.close();
  });
});

test('a journal that is opened again is followed from its last record', async () => {
  const dir = temporaryFolder();
  await withJournal(dir, (journal) => append(journal, entity, recordOf(1), recordOf(2)));
  const opened = await openSqliteJournal(dir);
  const feed = openSqliteFeed({ dir, end: opened.end });
  expect(feed.end()).toBe(feed.read(feed.start, 10, components).position);
  expect(await readToEnd(feed, ['cart'])).toHaveLength(2);
  feed.close();
  await opened.close();
});
