// The tables of a journal in PostgreSQL: made once, by whoever comes first, and refused when they are not those of a journal.
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { connectDatabase } from '../../../../host/storage/postgres/connect-database.ts';
import type { DatabaseSession } from '../../../../host/storage/postgres/database-session.ts';
import {
  beginCopy,
  migrateJournal,
  readJournalIdentity,
} from '../../../../host/storage/postgres/migration.ts';
import type { FreshDatabase } from '../../../support/postgres/fresh-database.ts';
import { serverVersions } from '../../../support/postgres/postgres-programs.ts';
import { PostgresServer } from '../../../support/postgres/postgres-server.ts';

async function connect(database: FreshDatabase): Promise<DatabaseSession> {
  const session = await connectDatabase(database.source);
  onTestFinished(() => session.abort());
  return session;
}

describe.each(serverVersions())('PostgreSQL %s', (version) => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.shared(version);
  });

  test('an empty database gets the tables, and keeps the id of its journal', async () => {
    const database = await server.freshDatabase();
    const session = await connect(database);
    expect(await readJournalIdentity(session)).toBeUndefined();
    const { id } = await migrateJournal(session);
    expect(await migrateJournal(session)).toEqual({ id });
    expect(await readJournalIdentity(await connect(database))).toEqual({ id });
    const counts = await database.sql('SELECT count(*)::integer FROM svc.slice');
    expect(counts).toEqual([{ count: 1024 }]);
  });

  test.each([
    ['without the schema', ''],
    ['with an empty schema', 'CREATE SCHEMA svc AUTHORIZATION svc_test'],
  ])('ten nodes that start at once on a database %s share one journal', async (_, before) => {
    const database = await server.freshDatabase();
    if (before !== '') await database.sql(before);
    const sessions = await Promise.all(Array.from({ length: 10 }, () => connect(database)));
    const journals = await Promise.all(sessions.map((session) => migrateJournal(session)));
    expect(new Set(journals.map(({ id }) => id)).size).toBe(1);
    expect(await database.sql('SELECT count(*)::integer FROM svc.slice')).toEqual([
      { count: 1024 },
    ]);
  });
});

describe('a database whose tables are not those of a journal of this version', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.shared('18');
  });

  async function journal(): Promise<FreshDatabase> {
    const database = await server.freshDatabase();
    await migrateJournal(await connect(database));
    return database;
  }

  test.each([
    ['DROP TABLE svc.reply', 'the table reply is missing'],
    ['ALTER TABLE svc.journal DROP COLUMN crc', 'the table journal has no column crc bigint'],
    [
      'ALTER TABLE svc.journal ALTER COLUMN id TYPE text COLLATE "C.utf8"',
      'the table journal has no column id text COLLATE "C"',
    ],
    [
      'ALTER TABLE svc.journal ALTER COLUMN off TYPE integer',
      'the table journal has no column off bigint',
    ],
    [
      'ALTER TABLE svc.reply ADD COLUMN note text',
      'the table reply has a column note text, which is not of a journal',
    ],
    [
      'ALTER TABLE svc.journal DROP CONSTRAINT journal_pkey',
      'the table journal has no index journal_pkey unique',
    ],
    [
      'DROP INDEX svc.journal_entity; CREATE INDEX journal_entity ON svc.journal (slice, component, id, seq)',
      'the table journal has no index journal_entity unique',
    ],
    [
      'ALTER TABLE svc.journal SET UNLOGGED',
      'the table journal is not logged, so that a crash empties it',
    ],
    ['CREATE TABLE svc.notes (n integer)', 'the table notes is not of a journal'],
    ['DELETE FROM svc.slice WHERE slice = 7', 'the table slice has 1023 of 1024 slices'],
    ['DELETE FROM svc.cluster', 'the table cluster is empty'],
    ['UPDATE svc.cluster SET format = -1', 'its format is -1'],
  ])('%s: %s', async (change, difference) => {
    const database = await journal();
    await database.sql(change);
    const before = await contents(database);
    for (const use of [migrateJournal, readJournalIdentity])
      await expect(use(await connect(database))).rejects.toMatchObject({
        code: 'SVC_JOURNAL_CORRUPT',
        message:
          `The journal in postgresql://127.0.0.1:${server.port}/${database.name} is damaged: ${difference}. ` +
          'Restore the database from a backup.',
      });
    expect(await contents(database)).toEqual(before);
  });

  test.each([
    ['UPDATE svc.cluster SET format = 2', 'SVC_JOURNAL_NEWER', 'has format 2, and this version'],
    [
      'UPDATE svc.cluster SET hash_version = 2',
      'SVC_DATABASE_UNUSABLE',
      'made with a hash of version 2, and this version of svc has version 1',
    ],
    ['UPDATE svc.cluster SET slices = 512', 'SVC_DATABASE_UNUSABLE', 'made with 512 slices'],
    // A newer format has other tables.
    [
      'UPDATE svc.cluster SET format = 9; DROP TABLE svc.reply',
      'SVC_JOURNAL_NEWER',
      'has format 9',
    ],
  ])('%s: %s', async (change, code, text) => {
    const database = await journal();
    await database.sql(change);
    await expect(migrateJournal(await connect(database))).rejects.toMatchObject({
      code,
      message: expect.stringContaining(text),
    });
  });

  test('tables of others in the schema are left alone', async () => {
    const database = await server.freshDatabase();
    await database.sql('CREATE SCHEMA svc; CREATE TABLE svc.notes (n integer)');
    await expect(migrateJournal(await connect(database))).rejects.toMatchObject({
      code: 'SVC_DATABASE_UNUSABLE',
      message: expect.stringContaining('its schema svc has a table notes, and no journal'),
    });
    expect((await contents(database)).map(({ table }) => table)).toEqual(['notes']);
  });

  test('an error of a journal in another schema names that one', async () => {
    const database = await server.freshDatabase();
    const source = { ...database.source, schema: 'segment' };
    const session = await connectDatabase(source);
    onTestFinished(() => session.abort());
    await migrateJournal(session);
    await expect(beginCopy(session, 'copy')).rejects.toMatchObject({
      code: 'SVC_JOURNAL_NOT_EMPTY',
      message: expect.stringContaining('its schema segment has a journal'),
    });
    await database.sql('ALTER TABLE segment.reply OWNER TO postgres');
    await expect(migrateJournal(session)).rejects.toThrow(
      'Make the role in the URL the owner of the schema segment and its tables.',
    );
    await database.sql('DROP TABLE segment.cluster');
    await expect(migrateJournal(session)).rejects.toThrow('its schema segment has a table');
    await database.sql('DROP SCHEMA segment CASCADE; CREATE SCHEMA segment');
    await expect(migrateJournal(session)).rejects.toThrow(
      /\(schema segment\) cannot be used: .* if the schema exists/,
    );
  });

  test('a role that may read the tables, and not write them, may read the journal', async () => {
    const database = await journal();
    await database.sql('ALTER SCHEMA svc OWNER TO postgres');
    await database.sql(
      `DO 'DECLARE t text; BEGIN FOR t IN SELECT tablename FROM pg_tables WHERE schemaname = ''svc''
         LOOP EXECUTE ''ALTER TABLE svc.'' || t || '' OWNER TO postgres''; END LOOP; END'`,
    );
    const session = await connect(database);
    await expect(migrateJournal(session)).rejects.toMatchObject({ code: 'SVC_DATABASE_UNUSABLE' });
    await database.sql(
      'GRANT USAGE ON SCHEMA svc TO svc_test; GRANT SELECT ON ALL TABLES IN SCHEMA svc TO svc_test',
    );
    expect(await readJournalIdentity(session)).toEqual({ id: expect.any(String) });
    await expect(migrateJournal(session)).rejects.toMatchObject({
      code: 'SVC_DATABASE_UNUSABLE',
      message: expect.stringContaining('may not read and write the table '),
    });
  });

  test('a node that ends in the middle of making tables leaves none, and does not hold up the next', async () => {
    const database = await server.freshDatabase();
    const first = await connect(database);
    await first.query({ text: 'BEGIN' });
    await first.query({ text: 'CREATE SCHEMA svc' });
    const second = migrateJournal(await connect(database));
    await expect
      .poll(() =>
        server.sql(
          `SELECT count(*)::integer FROM pg_stat_activity WHERE datname = $1 AND wait_event_type = 'Lock'`,
          [database.name],
        ),
      )
      .toEqual([{ count: 1 }]);
    first.abort();
    expect(await second).toEqual({ id: expect.any(String) });
  });
});

async function contents(
  database: FreshDatabase,
): Promise<readonly { readonly table: unknown; readonly rows: unknown }[]> {
  const rows = await database.sql(
    `SELECT relname AS table, (xpath('/row/c/text()', query_to_xml('SELECT count(*) AS c FROM svc.' || relname, false, true, '')))[1]::text
       AS rows FROM pg_class WHERE relnamespace = 'svc'::regnamespace AND relkind = 'r' ORDER BY relname`,
  );
  return rows as never;
}
