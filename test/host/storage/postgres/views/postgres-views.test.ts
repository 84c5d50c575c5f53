// The store of views in PostgreSQL, as every store of views.
import { afterAll, beforeAll, describe } from 'vitest';
import type { FreshDatabase } from '../../../../support/postgres/fresh-database.ts';
import { serverVersions } from '../../../../support/postgres/postgres-programs.ts';
import { PostgresServer } from '../../../../support/postgres/postgres-server.ts';
import { viewStoreSuite } from '../../../../suites/view-store-suite.ts';
import { emptyDatabase, viewsIn } from './support/views-database.ts';

describe.each(serverVersions())('PostgreSQL %s', (version) => {
  let database: FreshDatabase;
  beforeAll(async () => {
    database = await emptyDatabase(await PostgresServer.shared(version));
  });
  afterAll(() => database.end());

  viewStoreSuite('in PostgreSQL', async (limits) => {
    await database.sql('DELETE FROM svc.view_definition');
    const store = viewsIn(database, limits);
    return { store, discard: () => store.close() };
  });
});
