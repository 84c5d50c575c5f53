// OperatorChange carries out what an operator asks for in a transaction, which is repeated when the database ends it because of another
// one.
import { SvcError } from '@svc/kit/svc-error';
import { databaseError } from './database-errors.ts';
import { DatabaseFailure } from './database-failure.ts';
import type { DatabaseSession } from './database-session.ts';

/** Calls a function with a connection that nobody else uses until the promise of the function settles. */
export type WithSession = <T>(use: (session: DatabaseSession) => Promise<T>) => Promise<T>;

const BEGIN = { text: 'BEGIN ISOLATION LEVEL READ COMMITTED' };
const COMMIT = { text: 'COMMIT' };
const ROLLBACK = { text: 'ROLLBACK' };

/** SQLSTATE of a row whose key another transaction has given to a row at the same time. */
const UNIQUE_VIOLATION = '23505';
/** Most times that a change is tried. */
const ATTEMPTS_MAX = 10;

/**
 * Resolves with what `change` returns, once it is stored. `what`: the things that are changed, for messages. Rejects with SvcError:
 * SVC_CALL_UNCERTAIN if it is unknown whether they were changed, and as `change` does.
 */
export async function operatorChange<T>(
  withSession: WithSession,
  what: string,
  change: (session: DatabaseSession) => Promise<T>,
): Promise<T> {
  for (let left = ATTEMPTS_MAX - 1; ; left--) {
    const changed = await withSession((session) => committed(session, what, change, left > 0));
    if (changed !== undefined) return changed.result;
  }
}

/** Makes a change and commits it. Returns undefined if it has to be repeated, and `isRepeatable`. Rejects with an SvcError. */
async function committed<T>(
  session: DatabaseSession,
  what: string,
  change: (session: DatabaseSession) => Promise<T>,
  isRepeatable: boolean,
): Promise<{ readonly result: T } | undefined> {
  let isCommitting = false;
  try {
    await session.query(BEGIN);
    const result = await change(session);
    isCommitting = true;
    await session.query(COMMIT);
    return { result };
  } catch (error) {
    await rollBack(session);
    if (!(error instanceof DatabaseFailure)) throw error;
    if (isRepeatable && mayPass(error)) return undefined;
    const isUncertain = isCommitting && error.outcome === 'unknown';
    throw isUncertain ? uncertain(error, session.shown, what) : databaseError(error, session.shown);
  }
}

/** Returns whether the change may be stored when it is repeated. */
function mayPass({ isRetryable, sqlState }: DatabaseFailure): boolean {
  return isRetryable || sqlState === UNIQUE_VIOLATION;
}

function uncertain({ message }: DatabaseFailure, shown: string, what: string): SvcError {
  return new SvcError(
    'SVC_CALL_UNCERTAIN',
    `It is unknown whether ${what} in ${shown} were changed: ${message}. Look at the ${what}, and repeat the change if it is missing.`,
  );
}

async function rollBack(session: DatabaseSession): Promise<void> {
  try {
    await session.query(ROLLBACK);
  } catch (error) {
    // The connection is lost, and with it the transaction.
    if (!(error instanceof DatabaseFailure)) throw error;
  }
}
