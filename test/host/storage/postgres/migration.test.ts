// The tables of a journal in PostgreSQL: made once, by whoever comes first, and refused when they are not those of a journal.
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { connectDatabase } from '../../../../host/storage/postgres/connect-database.ts';
import type { DatabaseSession } from '../../../../host/storage/postgres/database-session.ts';
import {
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
