// JournalFailure is the error of a journal in PostgreSQL, for whoever called it.
import { SvcError } from '@svc/kit/svc-error';
import { databaseError } from './database-errors.ts';
import { DatabaseFailure } from './database-failure.ts';

/** Returns the error of a call that was not carried out; an SvcError as it is. `shown`: name of the database. */
export function journalFailure(error: unknown, shown: string): SvcError {
  if (error instanceof SvcError) return error;
  if (error instanceof DatabaseFailure) return databaseError(error, shown);
  throw error;
}
