// A journal that is damaged, or of another format: it is named, and left as it is.
import {
  copyFileSync,
  existsSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import type { EntityRef } from '../../../../model/entity.ts';
import { attachSqliteJournal } from '../../../../host/storage/sqlite/attached-journal.ts';
import { openSqliteJournal } from '../../../../host/storage/sqlite/sqlite-journal.ts';
import { append, recordOf } from '../../../suites/journal-suite.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { withJournal } from '../../../support/with-journal.ts';

const entity: EntityRef = { component: 'Cart', id: 'one' };

/** A folder whose journal has `count` records of the one entity. */
async function filledFolder(count: number): Promise<string> {
  const dir = temporaryFolder();
  await withJournal(dir, async (journal) => {
    const records = Array.from({ length: count }, (_, index) => recordOf(index + 1));
    expect(await append(journal, entity, ...records)).toBeUndefined();
  });
  return dir;
}

function edit(dir: string, sql: string): void {
  const database = new DatabaseSync(join(dir, 'journal.sqlite'));
  database.exec(sql);
  database.close();
}

function contents(dir: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(dir)
      .toSorted()
      .map((name) => [name, readFileSync(join(dir, name), 'base64')]),
  );
}

describe('damage', () => {
  test.each([
    ['an event', `UPDATE journal SET json = replace(json, '"n":2', '"n":3') WHERE seq = 2`],
    ['a time', 'UPDATE journal SET time_ms = time_ms + 1 WHERE seq = 2'],
    ['a manifest', `UPDATE journal SET manifest = 'F' WHERE seq = 2`],
    ['a number', 'UPDATE journal SET seq = 4 WHERE seq = 2'],
    ['a number beyond what a number holds', 'UPDATE journal SET time_ms = 9223372036854775807'],
    ['a kind', 'UPDATE journal SET kind = 1 WHERE seq = 2'],
    ['its entity', `UPDATE entity SET id = 'two'; INSERT INTO entity VALUES (9, 'Cart', 'x')`],
  ])('of %s is found and named when it is read', async (_, sql) => {
    const dir = await filledFolder(3);
    edit(dir, sql);
    await withJournal(dir, async (journal) => {
      const damaged = sql.includes('entity') ? { component: 'Cart', id: 'two' } : entity;
      const failure = await journal.read(damaged, 0, 10).catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: 'SVC_JOURNAL_CORRUPT' });
      expect((failure as Error).message).toContain(`entity '${damaged.id}' of component 'Cart'`);
      // The others are served as before.
      const other = { component: 'Cart', id: 'other' };
      expect(await append(journal, other, recordOf(1))).toBeUndefined();
      expect(await journal.read(other, 0, 10)).toEqual([recordOf(1)]);
    });
  });

  test('of a deletion is found when one asks for it', async () => {
    const dir = await filledFolder(3);
    for (const sql of [
      'UPDATE journal SET kind = 1 WHERE seq = 2',
      'UPDATE journal SET time_ms = 1 WHERE seq = 2',
    ]) {
      edit(dir, sql);
      await withJournal(dir, async (journal) => {
        await expect(journal.lastDeletion(entity)).rejects.toMatchObject({
          code: 'SVC_JOURNAL_CORRUPT',
          message: expect.stringContaining('record 2') as string,
        });
      });
    }
  });

  test('that lost the journal and left its log is refused, and nothing is touched', async () => {
    const dir = temporaryFolder();
    const opened = await openSqliteJournal(dir);
    const journal = attachSqliteJournal(opened.connect());
    expect(await append(journal, entity, recordOf(1))).toBeUndefined();
    const copy = temporaryFolder();
    copyFileSync(join(dir, 'journal.sqlite-wal'), join(copy, 'journal.sqlite-wal'));
    await journal.close();
    await opened.close();
    const before = contents(copy);
    await expect(openSqliteJournal(copy)).rejects.toMatchObject({ code: 'SVC_JOURNAL_CORRUPT' });
    expect(contents(copy)).toEqual(before);
  });

  test('of one byte in the file is found and named when the record is read', async () => {
    const dir = await filledFolder(3);
    const path = join(dir, 'journal.sqlite');
    const bytes = readFileSync(path);
    const at = bytes.indexOf('"n":2');
    expect(at).toBeGreaterThan(0);
    bytes[at + 1] = bytes[at + 1]! ^ 0x01;
    writeFileSync(path, bytes);
    await withJournal(dir, async (journal) => {
      await expect(journal.read(entity, 0, 10)).rejects.toMatchObject({
        code: 'SVC_JOURNAL_CORRUPT',
        message: expect.stringContaining('record 2') as string,
      });
      expect(await journal.read(entity, 2, 10)).toEqual([recordOf(3)]);
    });
  });

  test('that cuts the file off is refused at the start, and nothing is touched', async () => {
    const dir = await filledFolder(1_000);
    const path = join(dir, 'journal.sqlite');
    truncateSync(path, Math.floor(statSync(path).size / 2));
    const before = readFileSync(path);
    await expect(openSqliteJournal(dir)).rejects.toMatchObject({ code: 'SVC_JOURNAL_CORRUPT' });
    expect(readFileSync(path)).toEqual(before);
  });

  test.each([
    [
      'something else',
      Buffer.from('this is not a database, and long enough to look like one '.repeat(9)),
    ],
    ['an empty file', Buffer.alloc(0)],
    ['a few bytes', Buffer.from('SQLite format 3\0')],
  ])('that leaves %s is refused, and nothing is touched', async (_, bytes) => {
    const dir = temporaryFolder();
    writeFileSync(join(dir, 'journal.sqlite'), bytes);
    const before = contents(dir);
    await expect(openSqliteJournal(dir)).rejects.toMatchObject({ code: 'SVC_JOURNAL_CORRUPT' });
    expect(contents(dir)).toEqual(before);
  });

  test('a database of somebody else is refused, and nothing is touched', async () => {
    const dir = temporaryFolder();
    edit(dir, 'CREATE TABLE precious (a); INSERT INTO precious VALUES (1)');
    const before = contents(dir);
    await expect(openSqliteJournal(dir)).rejects.toMatchObject({ code: 'SVC_JOURNAL_CORRUPT' });
    expect(contents(dir)).toEqual(before);
  });

  test('a journal without its tables is refused', async () => {
    const dir = await filledFolder(1);
    edit(dir, 'DROP TABLE journal');
    await expect(openSqliteJournal(dir)).rejects.toMatchObject({ code: 'SVC_JOURNAL_CORRUPT' });
  });
});

describe('the format', () => {
  test('of a newer version is refused, and nothing is touched', async () => {
    const dir = await filledFolder(1);
    edit(dir, 'PRAGMA user_version = 99');
    for (const withLock of [true, false]) {
      if (!withLock) rmSync(join(dir, 'lock'));
      const before = contents(dir);
      await expect(openSqliteJournal(dir)).rejects.toMatchObject({
        code: 'SVC_JOURNAL_NEWER',
        message: expect.stringContaining('format 99') as string,
      });
      expect(contents(dir)).toEqual(before);
    }
  });

  test('a journal whose making was interrupted is made anew', async () => {
    const dir = temporaryFolder();
    writeFileSync(join(dir, 'journal.sqlite.new'), 'half a journal');
    await withJournal(dir, async (journal) => {
      expect(await append(journal, entity, recordOf(1))).toBeUndefined();
    });
    expect(existsSync(join(dir, 'journal.sqlite.new'))).toBe(false);
  });

  test('a journal with a write-ahead log that was left behind is read whole', async () => {
    const dir = temporaryFolder();
    const opened = await openSqliteJournal(dir);
    const journal = attachSqliteJournal(opened.connect());
    expect(await append(journal, entity, recordOf(1))).toBeUndefined();
    const copy = temporaryFolder();
    for (const name of ['journal.sqlite', 'journal.sqlite-wal'])
      copyFileSync(join(dir, name), join(copy, name));
    await journal.close();
    await opened.close();
    await withJournal(copy, async (copied) => {
      expect(await copied.read(entity, 0, 10)).toEqual([recordOf(1)]);
    });
  });
});
