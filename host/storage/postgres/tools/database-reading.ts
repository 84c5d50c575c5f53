// DatabaseReading makes connections by which tools read a journal in a database that a service may be writing.
//
// Invariant: such a connection changes nothing: the server refuses it.
import { SvcError } from '@svc/kit/svc-error';
import { type JournalInDatabase, locationName } from '../../journal-location.ts';
import { connectDatabase } from '../connect-database.ts';
import type { DatabaseSession } from '../database-session.ts';
import { journalFailure } from '../journal-failure.ts';
import { readJournalIdentity } from '../migration.ts';

/** A statement that takes longer ends with a failure, in milliseconds. */
const STATEMENT_MS = 60_000;
/** A tool takes no more of the server than one process. */
const SETTINGS = {
  text: `SELECT set_config('default_transaction_read_only', 'on', false),
    set_config('max_parallel_workers_per_gather', '0', false)`,
};

export interface ReadingOptions {
  /** A statement that takes longer ends with a failure, in milliseconds. */
  readonly statementTimeoutMs?: number;
}

/**
 * Connects to a database that has a journal. Rejects with SVC_JOURNAL_MISSING, SVC_JOURNAL_NEWER, SVC_JOURNAL_CORRUPT,
 * SVC_DATABASE_URL_INVALID, SVC_DATABASE_UNUSABLE and SVC_JOURNAL_UNAVAILABLE.
 */
export async function connectForReading(
  location: JournalInDatabase,
  options?: ReadingOptions,
): Promise<DatabaseSession> {
  const session = await openForReading(location, options);
  if (session === undefined) throw missingJournal(location);
  return session;
}

/**
 * Calls a function with a connection to a database that has a journal. Rejects as `connectForReading` and the function do.
 */
export async function readDatabase<T>(
  location: JournalInDatabase,
  read: (session: DatabaseSession) => Promise<T>,
): Promise<T> {
  const session = await connectForReading(location);
  try {
    return await read(session);
  } catch (error) {
    throw journalFailure(error, session.shown);
  } finally {
    await session.close();
  }
}

/** Returns whether a database has a journal. Rejects as `connectForReading` does otherwise. */
export async function hasJournal(location: JournalInDatabase): Promise<boolean> {
  const session = await openForReading(location);
  await session?.close();
  return session !== undefined;
}

/** Returns a connection; undefined: the database has no journal. */
async function openForReading(
  { source }: JournalInDatabase,
  { statementTimeoutMs = STATEMENT_MS }: ReadingOptions = {},
): Promise<DatabaseSession | undefined> {
  const session = await connectDatabase(source, { statementTimeoutMs });
  try {
    if ((await readJournalIdentity(session)) !== undefined) {
      await session.query(SETTINGS);
      return session;
    }
  } catch (error) {
    await session.close();
    throw journalFailure(error, session.shown);
  }
  await session.close();
  return undefined;
}

/** Returns the failure of a tool that has found an empty database. */
export function missingJournal(location: JournalInDatabase): SvcError {
  return new SvcError(
    'SVC_JOURNAL_MISSING',
    `There is no journal in ${locationName(location)}. Name the database of a service that has run.`,
  );
}
