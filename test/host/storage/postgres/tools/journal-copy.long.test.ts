// Copies of a journal between a folder and a database, exports of both, and imports into a database.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { connectDatabase } from '../../../../../host/storage/postgres/connect-database.ts';
import { migrateJournal } from '../../../../../host/storage/postgres/migration.ts';
import {
  type JournalInDatabase,
  journalIn,
  journalInDatabase,
} from '../../../../../host/storage/journal-location.ts';
import { copyJournal, importJournal } from '../../../../../host/storage/journal-tools.ts';
import { append, recordOf } from '../../../../suites/journal-suite.ts';
import { edit, fillJournal } from '../../../../support/damaged-journal.ts';
import { fullJournal } from '../../../../support/full-journal.ts';
import { copied, exported, findingsIn } from '../../../../support/journal-tools.ts';
import { FilledDatabase } from '../../../../support/postgres/filled-database.ts';
import type { FreshDatabase } from '../../../../support/postgres/fresh-database.ts';
import { serverVersions } from '../../../../support/postgres/postgres-programs.ts';
import { PostgresServer } from '../../../../support/postgres/postgres-server.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../../../../support/temporary-folder.ts';
import { withJournal } from '../../../../support/with-journal.ts';

/** More than are stored at once. */
const RECORDS = 2_800;
/** A copy that is interrupted after so many has stored some. */
const SOME = 2_200;
const folder = journalIn(temporaryFolderOfFile());
let text: string;

beforeAll(async () => {
  await fullJournal(folder.dir, RECORDS, 70);
  text = await exported(folder);
});

const locationOf = ({ source }: FreshDatabase) => journalInDatabase(source);
const newFolder = () => journalIn(join(temporaryFolder(), 'copy'));

/** Opens a database as a service does. */
async function opened({ source }: JournalInDatabase) {
  const session = await connectDatabase(source);
  onTestFinished(() => session.abort());
  return migrateJournal(session);
}

async function* bytesOf(...parts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield Buffer.from(part);
}

describe.each(serverVersions())('PostgreSQL %s', (version) => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.shared(version);
  });

  test('a copy in a database, one of it in a folder, and one in another database have the same export', async () => {
    const database = await server.freshDatabase();
    const first = locationOf(database);
    expect(await copied(folder, first)).toEqual({ records: RECORDS, entities: 70 });
    expect(await exported(first)).toBe(text);
    expect(await findingsIn(first)).toEqual([]);
    const there = newFolder();
    expect(await copied(first, there)).toMatchObject({ records: RECORDS, entities: 70 });
    expect(await exported(there)).toBe(text);
    expect(await findingsIn(there)).toEqual([]);
    const second = locationOf(await server.freshDatabase());
    expect(await copied(first, second)).toEqual({ records: RECORDS, entities: 70 });
    expect(await exported(second)).toBe(text);
    await opened(second);
  });

  test('an export makes the same journal in a database', async () => {
    const database = await server.freshDatabase();
    const to = locationOf(database);
    expect(await importJournal(bytesOf(text), to, () => {})).toEqual({
      records: RECORDS,
      entities: 70,
    });
    expect(await exported(to)).toBe(text);
    expect(await findingsIn(to)).toEqual([]);
    const [numbers] = await database.sql(
      `SELECT (SELECT last_value FROM svc.timer_number)::int AS timer, (SELECT sum(timers) FROM svc.timer_count)::int AS timers,
        nextval(pg_get_serial_sequence('svc.module', 'number'))::int AS module`,
    );
    const [last] = await database.sql('SELECT max(number)::int AS number FROM svc.timer');
    expect(numbers).toEqual({ timer: last!['number'], timers: 4, module: 4 });
    expect(
      await database.sql('SELECT module, count(*)::int FROM svc.journal GROUP BY 1 ORDER BY 1'),
    ).toEqual([
      { module: 1, count: RECORDS / 2 },
      { module: 2, count: RECORDS / 2 },
    ]);
  });
});

describe('a copy into a database', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.shared('18');
  });

  test('that was interrupted is opened by no service, and goes on', async () => {
    const database = await server.freshDatabase();
    const to = locationOf(database);
    expect(await copied(folder, to, SOME)).toBeUndefined();
    await expect(opened(to)).rejects.toMatchObject({
      code: 'SVC_DATABASE_UNUSABLE',
      message: expect.stringContaining('a copy of a journal into it is not complete'),
    });
    const stored = 'SELECT min(xmin::text::int8) AS least, count(*)::int FROM svc.journal';
    const [before] = await database.sql(stored);
    expect(before!['count']).toBeGreaterThan(0);
    expect(before!['count']).toBeLessThan(RECORDS);
    expect(await copied(folder, to)).toEqual({ records: RECORDS, entities: 70 });
    // The rows of the first attempt are still the same ones.
    expect(await database.sql(stored)).toEqual([{ least: before!['least'], count: RECORDS }]);
    expect(await exported(to)).toBe(text);
    expect(await findingsIn(to)).toEqual([]);
    await opened(to);
  });

  test('goes on with no other journal than the one that it has begun with', async () => {
    const to = locationOf(await server.freshDatabase());
    await copied(folder, to, SOME);
    for (const records of [30, RECORDS]) {
      const other = journalIn(temporaryFolder());
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await fillJournal(other.dir, records, 6);
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await expect(copied(other, to)).rejects.toMatchObject({
        code: 'SVC_JOURNAL_NOT_EMPTY',
        message: expect.stringContaining('an unfinished copy of another journal'),
      });
    }
    expect(await copied(folder, to)).toMatchObject({ records: RECORDS });
  });

  test('names the schema of an unfinished copy of another journal, and not that of another one', async () => {
    const database = await server.freshDatabase();
    const to = journalInDatabase({ ...database.source, schema: 'segment' });
    await opened(locationOf(database));
    await copied(folder, to, SOME);
    const other = journalIn(temporaryFolder());
    await fillJournal(other.dir, 30, 6);
    await expect(copied(other, to)).rejects.toThrow('remove the schema segment from this one.');
  });

  test('ends when another one begins', async () => {
    const to = locationOf(await server.freshDatabase());
    const steps = copyJournal(folder, to);
    await steps.next();
    await steps.next();
    expect(await copied(folder, to)).toMatchObject({ records: RECORDS });
    const rest = async () => {
      for (let step = await steps.next(); step.done !== true;)
        // oxlint-disable-next-line no-await-in-loop -- one step follows the other
        step = await steps.next();
    };
    await expect(rest()).rejects.toMatchObject({ code: 'SVC_DATA_IN_USE' });
    expect(await exported(to)).toBe(text);
  });

  test.each([
    ['a journal', '', /its schema svc has a journal/],
    [
      'a journal of another format',
      'UPDATE svc.cluster SET format = 2',
      /its schema svc has a journal/,
    ],
    [
      'other tables',
      'DROP SCHEMA svc CASCADE; CREATE SCHEMA svc; CREATE TABLE svc.mine (a int)',
      /its schema svc has a table mine/,
    ],
  ])('does not begin in a database that has %s', async (_, sql, message) => {
    const database = await server.freshDatabase();
    const to = locationOf(database);
    await opened(to);
    if (sql !== '') await database.sql(sql);
    const failure = { code: 'SVC_JOURNAL_NOT_EMPTY', message: expect.stringMatching(message) };
    await expect(copied(folder, to)).rejects.toMatchObject(failure);
    await expect(importJournal(bytesOf(text), to, () => {})).rejects.toMatchObject(failure);
  });

  test('is not finished if the original is damaged, which is named', async () => {
    const dir = temporaryFolder();
    await fillJournal(dir, 30, 6);
    edit(dir, `UPDATE journal SET json = '{}' WHERE pos = 8`);
    const to = locationOf(await server.freshDatabase());
    await expect(copied(journalIn(dir), to)).rejects.toMatchObject({
      code: 'SVC_JOURNAL_CORRUPT',
      message: expect.stringContaining('at position 8'),
    });
    await expect(opened(to)).rejects.toMatchObject({ code: 'SVC_DATABASE_UNUSABLE' });
  });

  test('makes no tables of an export with a line that was changed', async () => {
    const database = await server.freshDatabase();
    const changed = text.replace('"n":8,', '"n":9,');
    await expect(
      importJournal(bytesOf(changed), locationOf(database), () => {}),
    ).rejects.toMatchObject({ code: 'SVC_IMPORT_INVALID' });
    expect(await database.sql("SELECT FROM pg_namespace WHERE nspname = 'svc'")).toEqual([]);
  });

  test('refuses text that PostgreSQL cannot store', async () => {
    const dir = temporaryFolder();
    await withJournal(dir, (journal) =>
      append(journal, { component: 'c', id: 'a\u0000b' }, recordOf(1)),
    );
    await expect(
      copied(journalIn(dir), locationOf(await server.freshDatabase())),
    ).rejects.toMatchObject({
      code: 'SVC_DATABASE_UNSUPPORTED',
      message: expect.stringContaining('U+0000'),
    });
  });

  test('has the records before those that are stored in the database', async () => {
    const filled = await FilledDatabase.make(server, 10, 2);
    const to = journalIn(join(temporaryFolder(), 'copy'));
    await copied(filled.location, to);
    const database = await server.freshDatabase();
    const again = locationOf(database);
    await copied(to, again);
    // A transaction whose number is less than those that the records had.
    await database.sql(
      `UPDATE svc.slice SET head = head + 1 WHERE slice = 0;
       INSERT INTO svc.journal (slice, off, component, id, seq, kind, time_ms, crc, tx)
         SELECT 0, head, 'x', 'y', 1, 1, 0, 0, '3' FROM svc.slice WHERE slice = 0`,
    );
    const findings = await findingsIn(again);
    expect(findings.map(({ pos }) => pos)).toEqual([expect.stringMatching(/^3\.0\./)]);
    const lines: number[] = [];
    await database.sql("DELETE FROM svc.journal WHERE component = 'x'");
    await database.sql('UPDATE svc.slice SET head = head - 1 WHERE slice = 0');
    for (const line of (await exported(again)).split('\n')) {
      const pos = /^\{"pos":(\d+),/.exec(line)?.[1];
      if (pos !== undefined) lines.push(Number(pos));
    }
    expect(lines).toEqual(Array.from({ length: 10 }, (__, index) => index + 1));
    expect(await exported(again)).toBe(await exported(to));
  });
});

test('a copy of a database without a journal makes no folder', async () => {
  const server = await PostgresServer.shared('18');
  const to = newFolder();
  await expect(copied(locationOf(await server.freshDatabase()), to)).rejects.toMatchObject({
    code: 'SVC_JOURNAL_MISSING',
  });
  const path = join(temporaryFolder(), 'no.url');
  writeFileSync(path, 'nonsense');
  await expect(copied(folder, journalInDatabase({ kind: 'file', path }))).rejects.toMatchObject({
    code: 'SVC_DATABASE_URL_INVALID',
  });
});
