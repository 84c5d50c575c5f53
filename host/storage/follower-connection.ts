// FollowerConnection is a value by which a thread follows a journal that another thread has opened, finds the rows of views
// beside it, and reads which timers are due and how far consumers are. It can be posted to any number of threads. Another implementation of the journal adds its connection here:
// a member of the union and a case of each function.
import type { ConsumerReader } from '../engine/needs/consumers.ts';
import type { Feed } from '../engine/needs/feed.ts';
import type { Journal } from '../engine/needs/journal.ts';
import type { TimerSource } from '../engine/needs/timer-source.ts';
import type { ViewStore } from '../engine/needs/views.ts';
import type { Awaitable } from '@svc/model/call';
import type { ViewLimits } from '@svc/model/view-limits';
import { openConsumerReader } from './sqlite/consumer-reader.ts';
import { journalPath } from './sqlite/journal-file.ts';
import { JournalReader } from './sqlite/journal-reader.ts';
import { openSqliteFeed } from './sqlite/sqlite-feed.ts';
import { readTimers } from './sqlite/read-timers.ts';
import type { SqliteConnection } from './sqlite/sqlite-connection.ts';
import { openTimerReader } from './sqlite/timer-reader.ts';
import type { TimerCounts } from './timer-series.ts';
import { FileViews } from './views/file-views.ts';

export type FollowerConnection = Pick<SqliteConnection, 'kind' | 'dir' | 'end'>;

/** Opens the journal's feed for the calling thread. Throws SVC_JOURNAL_CORRUPT or SVC_JOURNAL_UNAVAILABLE. */
export function openFeed(connection: FollowerConnection): Feed {
  switch (connection.kind) {
    case 'sqlite':
      return openSqliteFeed(connection);
  }
}

/** How far consumers are, and the records of one entity, which a lane reads when its events wait. */
export interface ConsumerState extends ConsumerReader, Pick<Journal, 'read'> {
  close(): void;
}

/** Opens a reader for the calling thread. Throws SVC_JOURNAL_CORRUPT or SVC_JOURNAL_UNAVAILABLE. */
export function openConsumerState(connection: FollowerConnection): ConsumerState {
  switch (connection.kind) {
    case 'sqlite':
      return sqliteConsumerState(journalPath(connection.dir));
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

/** The timers of the journal, as a dispatcher reads them. */
export interface OpenedTimers extends TimerSource {
  /** Counts the timers. */
  counts(): Awaitable<TimerCounts>;
  close(): void;
}

/**
 * Opens the timers for the calling thread. `onDamage` receives an error for each damaged timer, each time that it is read. Throws
 * SVC_JOURNAL_CORRUPT or SVC_JOURNAL_UNAVAILABLE.
 */
export function openTimers(
  connection: FollowerConnection,
  onDamage: (error: unknown) => void,
): OpenedTimers {
  switch (connection.kind) {
    case 'sqlite':
      return sqliteTimers(journalPath(connection.dir), onDamage);
  }
}

function sqliteTimers(path: string, onDamage: (error: unknown) => void): OpenedTimers {
  const reader = openTimerReader(path);
  return {
    ...readTimers(reader, onDamage),
    counts: () => reader.counts(),
    close: () => reader.close(),
  };
}

/** Returns the store of the views' rows. */
export function openViews(connection: FollowerConnection, limits: ViewLimits): ViewStore {
  switch (connection.kind) {
    case 'sqlite':
      return new FileViews(connection.dir, limits);
  }
}
