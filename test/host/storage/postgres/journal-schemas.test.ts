// Journals of one database in schemas of their own are listed, and each is removed as a whole or not at all.
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { connectDatabase } from '../../../../host/storage/postgres/connect-database.ts';
import { JournalSchemas } from '../../../../host/storage/postgres/journal-schemas.ts';
import { migrateJournal } from '../../../../host/storage/postgres/migration.ts';
import type { FreshDatabase } from '../../../support/postgres/fresh-database.ts';
import { PostgresServer } from '../../../support/postgres/postgres-server.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.shared('18');
});

/** Makes a database with journals in these schemas. */
async function withJournals(...schemas: readonly string[]) {
  const database = await server.freshDatabase();
  onTestFinished(() => database.end());
  for (const schema of schemas) {
    const session = await connectDatabase({ ...database.source, schema });
    await migrateJournal(session);
    await session.close();
  }
  return { database, journals: new JournalSchemas(database.source, 'part_') };
}

/** Returns how many things of the server belong to schemas, by their names. */
async function schemasOf(database: FreshDatabase): Promise<readonly string[]> {
  const rows = await database.sql(
    `SELECT DISTINCT nspname FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace
      WHERE nspname !~ '^(pg_|information_schema)' ORDER BY 1`,
  );
  return rows.map(({ nspname }) => String(nspname));
}

test('schemas are listed by the beginning of their names', async () => {
  const { journals } = await withJournals('part_2', 'part_1', 'svc', 'partition');
  expect(await journals.list()).toEqual(['part_1', 'part_2']);
});

test('a removed journal leaves nothing, and the others stay', async () => {
  const { database, journals } = await withJournals('part_1', 'part_2', 'svc');
  await journals.remove('part_1');
  expect(await schemasOf(database)).toEqual(['part_2', 'svc']);
  expect(await journals.list()).toEqual(['part_2']);
  await journals.remove('part_1');
  const session = await connectDatabase({ ...database.source, schema: 'part_2' });
  onTestFinished(() => session.close());
  expect(await migrateJournal(session)).toMatchObject({ id: expect.any(String) });
});

test('a journal that a node uses is not removed, and can be once its lease has ended', async () => {
  const { database, journals } = await withJournals('part_1');
  await database.sql(`INSERT INTO part_1.node (uid, status, lease_until, is_exclusive, machine, version, fingerprint)
    VALUES ('n', 'up', clock_timestamp() + interval '1 hour', true, 'elsewhere', '1', '')`);
  await expect(journals.remove('part_1')).rejects.toMatchObject({
    code: 'SVC_DATA_IN_USE',
    message: expect.stringMatching(/\(schema part_1\) is used by a runtime on elsewhere/),
  });
  expect(await journals.list()).toEqual(['part_1']);
  await database.sql("UPDATE part_1.node SET lease_until = clock_timestamp() - interval '1 s'");
  await journals.remove('part_1');
  expect(await schemasOf(database)).toEqual([]);
});

test('a removal that cannot be finished leaves the journal whole, and is not waited for', async () => {
  const { database, journals } = await withJournals('part_1');
  const reader = await server.client(database.name);
  onTestFinished(() => reader.end());
  await reader.query('BEGIN; SELECT FROM part_1.journal');
  await expect(journals.remove('part_1')).rejects.toMatchObject({
    code: 'SVC_JOURNAL_UNAVAILABLE',
  });
  const session = await connectDatabase({ ...database.source, schema: 'part_1' });
  onTestFinished(() => session.close());
  expect(await migrateJournal(session)).toMatchObject({ id: expect.any(String) });
  await reader.query('ROLLBACK');
  await journals.remove('part_1');
  expect(await journals.list()).toEqual([]);
});
