// ViewFailure turns failures of the database into SvcErrors about the rows of a view.
import { SvcError } from '@svc/kit/svc-error';
import { databaseError } from '../database-errors.ts';
import { DatabaseFailure } from '../database-failure.ts';
import { isMissing } from './view-session.ts';

/** The rows of a definition cannot be used, and have to be made new. The message is a clause that says why. */
export class UnusableRows extends Error {}

/** Returns the error for a failed operation on the rows of a definition; other errors as they are. `shown`: the database. */
export function viewFailure(error: unknown, definition: string, shown: string): unknown {
  if (error instanceof UnusableRows) return viewDamaged(definition, error.message);
  if (!(error instanceof DatabaseFailure)) return error;
  if (isMissing(error)) return viewDamaged(definition, 'their table is not as it was made', error);
  if (error.sqlState?.startsWith('XX') === true)
    return viewDamaged(definition, error.message, error);
  return databaseError(error, shown);
}

function viewDamaged(definition: string, what: string, cause?: unknown): SvcError {
  return new SvcError(
    'SVC_VIEW_CORRUPT',
    `The rows of the view definition ${definition} in the database are damaged: ${what}. ` +
      'Build the view again: its rows come from the journal, so nothing is lost.',
    { cause },
  );
}
