// Following opens what a thread reads of a journal in PostgreSQL that another thread has opened. Everything that it opens has a
// connection of its own, which is made with its first statement.
import type { ConsumerReader } from '../../engine/needs/consumers.ts';
import type { Feed } from '../../engine/needs/feed.ts';
import type { Journal } from '../../engine/needs/journal.ts';
import type { TimerSource } from '../../engine/needs/timer-source.ts';
import type { TimerCounts } from '../timer-series.ts';
import type { ViewStore } from '../../engine/needs/views.ts';
import type { ViewLimits } from '@svc/model/view-limits';
import { AnsweringSession } from './answering-session.ts';
import { connectDatabase } from './connect-database.ts';
import type { DatabaseSession } from './database-session.ts';
import type { DatabaseSource } from './database-source.ts';
import { ConfirmedRecords } from './consumers/confirmed-records.ts';
import { PostgresConsumerReader } from './consumers/consumer-reader.ts';
import { EntityReads } from './entity-reads.ts';
import { PostgresFeed } from './feed/postgres-feed.ts';
import { SliceHeads } from './feed/slice-heads.ts';
import { SliceTable } from './nodes/slice-table.ts';
import { FollowingSession } from './following-session.ts';
import type { PostgresFollowing } from './postgres-connection.ts';
import { PostgresTimerReader } from './timers/timer-reader.ts';
import { PostgresViews } from './views/postgres-views.ts';

interface Closable {
  close(): void;
}

const CLOCK = { monotonicMs: () => performance.now() };

/** Returns a function that connects to a database, which has to answer in time. */
function connectionTo(source: DatabaseSource): () => Promise<DatabaseSession> {
  return async () => new AnsweringSession(await connectDatabase(source));
}

function sessionOf({ source, shown }: PostgresFollowing): FollowingSession {
  return new FollowingSession({ connect: connectionTo(source), shown, clock: CLOCK });
}

export function openPostgresFeed(connection: PostgresFollowing): Feed {
  const { heads, journal, consumed: slices } = connection;
  return new PostgresFeed({ session: sessionOf(connection), heads, journal, slices });
}

/** Opens how far consumers are, and the records of entities. */
export function openPostgresConsumers(
  connection: PostgresFollowing,
): ConsumerReader & Pick<Journal, 'read'> & Closable {
  const session = sessionOf(connection);
  const consumers = new PostgresConsumerReader(session, connection.consumed);
  const heads = new SliceHeads(connection.heads);
  const records = new ConfirmedRecords(new EntityReads(session), heads);
  return {
    consumer: (id) => consumers.consumer(id),
    lanes: (...page) => consumers.lanes(...page),
    read: (...page) => records.read(...page),
    close: () => session.close(),
  };
}

export function openPostgresViews(
  { source, shown, node }: PostgresFollowing,
  limits: ViewLimits,
): ViewStore {
  return new PostgresViews({ connect: connectionTo(source), shown, limits, owner: node });
}

/** Reads the timers that this node fires. `onDamage` receives an error for each damaged timer, each time that it is read. */
export function openPostgresTimers(
  connection: PostgresFollowing,
  onDamage: (error: unknown) => void,
): TimerSource & Closable & { readonly counts: () => Promise<TimerCounts> } {
  const session = sessionOf(connection);
  const table = new SliceTable(connection.owners);
  const reader = new PostgresTimerReader(session, onDamage, () => table.own());
  return {
    due: (...page) => reader.due(...page),
    input: (number) => reader.input(number),
    earliestMs: (afterMs) => reader.earliestMs(afterMs),
    counts: () => reader.counts(),
    close: () => session.close(),
  };
}
