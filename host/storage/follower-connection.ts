// FollowerConnection is a value by which a thread follows a journal that another thread has opened, and finds the rows of
// views beside it. It can be posted to any number of threads. Another implementation of the journal adds its connection here:
// a member of the union and a case of each function.
import type { Feed } from '../engine/needs/feed.ts';
import type { ViewStore } from '../engine/needs/views.ts';
import type { ViewLimits } from '../model/view-limits.ts';
import { openSqliteFeed } from './sqlite/sqlite-feed.ts';
import type { SqliteConnection } from './sqlite/sqlite-connection.ts';
import { FileViews } from './views/file-views.ts';

export type FollowerConnection = Pick<SqliteConnection, 'kind' | 'dir' | 'end'>;

/** Opens the journal's feed for the calling thread. Throws SVC_JOURNAL_CORRUPT or SVC_JOURNAL_UNAVAILABLE. */
export function openFeed(connection: FollowerConnection): Feed {
  switch (connection.kind) {
    case 'sqlite':
      return openSqliteFeed(connection);
  }
}

/** Returns the store of the views' rows. */
export function openViews(connection: FollowerConnection, limits: ViewLimits): ViewStore {
  switch (connection.kind) {
    case 'sqlite':
      return new FileViews(connection.dir, limits);
  }
}
