// FollowerConnection is a value by which a thread follows a journal that another thread has opened, finds the rows of views
// beside it, and reads how far consumers are and which timers are due (opened-timers.ts). It can be posted to any number of
// threads. Another implementation of the journal adds its connection here: a member of the union and a case of each function.
import type { ConsumerReader } from '../engine/needs/consumers.ts';
import type { Feed } from '../engine/needs/feed.ts';
import type { Awaitable } from '@svc/model/call';
import type { Journal } from '../engine/needs/journal.ts';
import type { ViewStore } from '../engine/needs/views.ts';
import type { ViewLimits } from '@svc/model/view-limits';
import type { PostgresFollowing } from './postgres/postgres-connection.ts';
import { openConsumerReader } from './sqlite/consumer-reader.ts';
import { journalPath } from './sqlite/journal-file.ts';
import { JournalReader } from './sqlite/journal-reader.ts';
import { openSqliteFeed } from './sqlite/sqlite-feed.ts';
import type { SqliteConnection } from './sqlite/sqlite-connection.ts';
import { FileViews } from './views/file-views.ts';

export type FollowerConnection = Pick<SqliteConnection, 'kind' | 'dir' | 'end'> | PostgresFollowing;

/** The code for PostgreSQL, which services with a folder do not load. */
const postgres = () => import('./postgres/following.ts');

/** Opens the journal's feed for the calling thread. Throws SVC_JOURNAL_CORRUPT or SVC_JOURNAL_UNAVAILABLE. */
export function openFeed(connection: FollowerConnection): Awaitable<Feed> {
  switch (connection.kind) {
    case 'sqlite':
      return openSqliteFeed(connection);
    case 'postgres':
      return postgres().then(({ openPostgresFeed }) => openPostgresFeed(connection));
  }
}

/** How far consumers are, and the records of one entity, which a lane reads when its events wait. */
export interface ConsumerState extends ConsumerReader, Pick<Journal, 'read'> {
  close(): void;
}

/** Opens a reader for the calling thread. Throws SVC_JOURNAL_CORRUPT or SVC_JOURNAL_UNAVAILABLE. */
export function openConsumerState(connection: FollowerConnection): Awaitable<ConsumerState> {
  switch (connection.kind) {
    case 'sqlite':
      return sqliteConsumerState(journalPath(connection.dir));
    case 'postgres':
      return postgres().then(({ openPostgresConsumers }) => openPostgresConsumers(connection));
  }
}

function sqliteConsumerState(path: string): ConsumerState {
  const consumers = openConsumerReader(path);
  const records = new JournalReader(path);
  return {
    consumer: (id) => consumers.consumer(id),
    lanes: (...page) => consumers.lanes(...page),
    read: async (...page) => records.read(...page),
    close() {
      consumers.close();
      records.close();
    },
  };
}

/** Returns the store of the views' rows. */
export function openViews(
  connection: FollowerConnection,
  limits: ViewLimits,
): Awaitable<ViewStore> {
  switch (connection.kind) {
    case 'sqlite':
      return new FileViews(connection.dir, limits);
    case 'postgres':
      return postgres().then(({ openPostgresViews }) => openPostgresViews(connection, limits));
  }
}
