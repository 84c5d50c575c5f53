// JournalFailure is the error of a journal in PostgreSQL, for whoever called it.
import { SvcError } from '@svc/kit/svc-error';

/** Returns the error of a call that was not carried out; an SvcError as it is. `shown`: name of the database. */
export function journalFailure(error: unknown, shown: string): SvcError {
  if (error instanceof SvcError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new SvcError(
    'SVC_JOURNAL_UNAVAILABLE',
    `The journal in ${shown} could not be used: ${reason}. Try again.`,
    { cause: error },
  );
}
