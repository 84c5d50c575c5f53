// Poolers before the database: one that keeps a session for each connection is used, any other is refused by name.
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { connectDatabase } from '../../../../host/storage/postgres/connect-database.ts';
import { migrateJournal } from '../../../../host/storage/postgres/migration.ts';
import { urlFile, type FreshDatabase } from '../../../support/postgres/fresh-database.ts';
import { Pooler, whyNoPooler } from '../../../support/postgres/pooler.ts';
import { PostgresServer } from '../../../support/postgres/postgres-server.ts';

const noPooler = whyNoPooler();
if (noPooler !== undefined) process.stderr.write(`Poolers are ${noPooler}.\n`);
let server: PostgresServer;
let database: FreshDatabase;
beforeAll(async () => {
  server = await PostgresServer.shared('18');
  database = await server.freshDatabase();
});

async function pooled(mode: 'session' | 'transaction' | 'statement', size: number) {
  const pooler = await Pooler.start(server, mode, size);
  onTestFinished(() => pooler.stop());
  const url = database.url.replace(`:${server.port}/`, `:${pooler.port}/`);
  return urlFile(server.folder, 'pooled', url);
}

test.skipIf(noPooler !== undefined).each([
  ['session', 5],
  // The pooler has no session for another connection.
  ['session', 1],
] as const)('a pooler of sessions is used (%s, %i)', async (mode, size) => {
  const session = await connectDatabase(await pooled(mode, size));
  onTestFinished(() => session.abort());
  await migrateJournal(session);
  for (const n of [1, 2])
    expect(await session.query({ name: 'one', text: 'SELECT $1::int4' }, [n])).toEqual([[n]]);
  expect(await session.query({ text: 'SHOW search_path' })).toEqual([['pg_catalog, pg_temp']]);
});

test.skipIf(noPooler !== undefined).each(['transaction', 'statement'] as const)(
  'a pooler of each %s is refused',
  async (mode) => {
    await expect(connectDatabase(await pooled(mode, 5))).rejects.toMatchObject({
      code: 'SVC_DATABASE_UNUSABLE',
      message: expect.stringContaining(
        'a pooler gives each transaction another session. Connect to the server itself',
      ),
    });
  },
);
