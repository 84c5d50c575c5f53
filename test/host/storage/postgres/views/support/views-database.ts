// ViewsDatabase: a database with the tables of a journal, and stores of views in it.
import { connectDatabase } from '../../../../../../host/storage/postgres/connect-database.ts';
import type { DatabaseSession } from '../../../../../../host/storage/postgres/database-session.ts';
import { migrateJournal } from '../../../../../../host/storage/postgres/migration.ts';
import { PostgresViews } from '../../../../../../host/storage/postgres/views/postgres-views.ts';
import { VIEW_LIMITS_DEFAULT, type ViewLimits } from '../../../../../../model/view-limits.ts';
import type { FreshDatabase } from '../../../../../support/postgres/fresh-database.ts';
import type { PostgresServer } from '../../../../../support/postgres/postgres-server.ts';

/** Makes a database without views. */
export async function emptyDatabase(server: PostgresServer): Promise<FreshDatabase> {
  const database = await server.freshDatabase();
  await migrate(database);
  return database;
}

export async function migrate(database: FreshDatabase): Promise<void> {
  const session = await connectDatabase(database.source);
  await migrateJournal(session);
  await session.close();
}

/** Opens a store. `opened` receives each connection that it makes. */
export function viewsIn(
  database: FreshDatabase,
  limits: Partial<ViewLimits> = {},
  opened: (session: DatabaseSession) => void = () => {},
): PostgresViews {
  return new PostgresViews({
    connect: async () => {
      const session = await connectDatabase(database.source);
      opened(session);
      return session;
    },
    shown: 'postgresql://test',
    limits: { ...VIEW_LIMITS_DEFAULT, ...limits },
    owner: 'test',
  });
}
