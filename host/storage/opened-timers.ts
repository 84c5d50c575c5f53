// OpenedTimers are the timers of a journal for the thread that fires them, which another thread has opened. They are apart from
// FollowerConnection, so that this thread does not load what reads views and consumers.
import type { TimerSource } from '../engine/needs/timer-source.ts';
import type { Awaitable } from '@svc/model/call';
import type { FollowerConnection } from './follower-connection.ts';
import type { PostgresFollowing } from './postgres/postgres-connection.ts';
import { journalPath } from './sqlite/journal-file.ts';
import { readTimers } from './sqlite/read-timers.ts';
import { openTimerReader } from './sqlite/timer-reader.ts';
import type { TimerCounts } from './timer-series.ts';

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
): Awaitable<OpenedTimers> {
  switch (connection.kind) {
    case 'sqlite':
      return sqliteTimers(journalPath(connection.dir), onDamage);
    case 'postgres':
      return postgresTimers(connection, onDamage);
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

/** Services with a folder do not load this code. */
async function postgresTimers(
  connection: PostgresFollowing,
  onDamage: (error: unknown) => void,
): Promise<OpenedTimers> {
  const { openPostgresTimers } = await import('./postgres/following.ts');
  return openPostgresTimers(connection, onDamage);
}
