// DatabaseReading reads a journal in a database that a service may be writing, with a connection for one look.
import { SvcError } from '@svc/kit/svc-error';
import { type JournalInDatabase, locationName } from '../../journal-location.ts';
import { connectDatabase } from '../connect-database.ts';
import type { DatabaseSession } from '../database-session.ts';
import { journalFailure } from '../journal-failure.ts';
import { readJournalIdentity } from '../migration.ts';

/** A statement that takes longer ends with a failure, in milliseconds. */
const STATEMENT_MS = 60_000;

/**
 * Calls a function with a connection to a database that has a journal. Rejects with SVC_JOURNAL_MISSING, SVC_JOURNAL_NEWER,
 * SVC_JOURNAL_CORRUPT, SVC_DATABASE_UNUSABLE and SVC_JOURNAL_UNAVAILABLE.
 */
export async function readDatabase<T>(
  location: JournalInDatabase,
  read: (session: DatabaseSession) => Promise<T>,
): Promise<T> {
  const found = await readJournal(location, async (session) => ({ value: await read(session) }));
  if (found === undefined) throw missing(location);
  return found.value;
}

/** Returns whether a database has a journal. Rejects as `readDatabase` does otherwise. */
export async function hasJournal(location: JournalInDatabase): Promise<boolean> {
  return (await readJournal(location, async () => true)) ?? false;
}

async function readJournal<T>(
  { source }: JournalInDatabase,
  read: (session: DatabaseSession) => Promise<T>,
): Promise<T | undefined> {
  const session = await connectDatabase(source, { statementTimeoutMs: STATEMENT_MS });
  try {
    if ((await readJournalIdentity(session)) === undefined) return undefined;
    return await read(session);
  } catch (error) {
    throw journalFailure(error, session.shown);
  } finally {
    await session.close();
  }
}

function missing(location: JournalInDatabase): SvcError {
  return new SvcError(
    'SVC_JOURNAL_MISSING',
    `There is no journal in ${locationName(location)}. Name the database of a service that has run.`,
  );
}
