// TimerFailure turns failures of the database into the SvcErrors of reads and changes of timers.
import { SvcError } from '@svc/kit/svc-error';
import { DatabaseFailure } from '../database-failure.ts';

/** SQLSTATE of a server whose disk is full. */
const DISK_FULL = '53100';

/**
 * Returns the failure of an operation that is not carried out; anything but a DatabaseFailure as it is. `doing`: `read` or
 * `changed`. `shown`: the address of the database.
 */
export function timerFailure(error: unknown, doing: 'read' | 'changed', shown: string): unknown {
  if (!(error instanceof DatabaseFailure)) return error;
  return new SvcError(
    error.sqlState === DISK_FULL ? 'SVC_DISK_FULL' : 'SVC_JOURNAL_UNAVAILABLE',
    `The timers in ${shown} could not be ${doing}: ${error.message}. Check the database, then try again.`,
    { cause: error },
  );
}

/** Creates the failure of a change of timers of which it is unknown whether it is stored. */
export function uncertainChange(cause: DatabaseFailure, shown: string): SvcError {
  return new SvcError(
    'SVC_CALL_UNCERTAIN',
    `It is unknown whether the timers in ${shown} were changed: ${cause.message}. ` +
      'Look at the timers, and repeat the change if it is missing.',
    { cause },
  );
}
