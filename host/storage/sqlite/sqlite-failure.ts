// SqliteFailure turns errors of node:sqlite into SvcErrors.
import { SQLITE_BUSY, isBusy, sqliteCode } from '@svc/kit/sqlite-code';
import { SvcError } from '@svc/kit/svc-error';

// The primary result codes of SQLite that are distinguished here.
/** Result code of a statement that does not match the tables. */
export const SQLITE_ERROR = 1;
/** Result code of a row that a constraint of its table refuses. */
export const SQLITE_CONSTRAINT = 19;
const SQLITE_NOMEM = 7;
const SQLITE_READONLY = 8;
const SQLITE_IOERR = 10;
const SQLITE_CORRUPT = 11;
const SQLITE_FULL = 13;
const SQLITE_CANTOPEN = 14;
const SQLITE_NOTADB = 26;
/** Extended result code: the disk has no space for the index of the write-ahead log. */
const SQLITE_IOERR_SHMSIZE = 4874;

export function isDamage(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === SQLITE_CORRUPT || code === SQLITE_NOTADB;
}

/** Returns whether a write failed because the disk is full, in SQLite or in Node. */
export function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ('errcode' in error && error.errcode === SQLITE_IOERR_SHMSIZE) return true;
  return sqliteCode(error) === SQLITE_FULL || ('code' in error && error.code === 'ENOSPC');
}

/** Returns whether the cause is the machine or the file, so that every append would fail, whatever its content. */
export function isOfMachineOrFile(error: unknown): boolean {
  const code = sqliteCode(error);
  return (
    code === SQLITE_BUSY ||
    code === SQLITE_NOMEM ||
    code === SQLITE_READONLY ||
    code === SQLITE_IOERR ||
    code === SQLITE_CORRUPT ||
    code === SQLITE_FULL ||
    code === SQLITE_CANTOPEN ||
    code === SQLITE_NOTADB
  );
}

/**
 * Returns the error for a failed operation on a journal; an SvcError as it is. `doing` is read after "The journal PATH
 * could not be".
 */
export function journalFailure(error: unknown, doing: string, path: string): SvcError {
  if (error instanceof SvcError) return error;
  if (isDamage(error)) return indexDamaged(path, reasonOf(error), error);
  return new SvcError(
    isDiskFull(error) ? 'SVC_DISK_FULL' : 'SVC_JOURNAL_UNAVAILABLE',
    `The journal ${path} could not be ${doing}: ${reasonOf(error)}. ${remedy(error, doing === 'opened')}`,
    { cause: error },
  );
}

/**
 * Creates the error for a file that could not be created or written. `what`: the sentence that says so, without a full
 * stop. `otherwise`: the remedy, unless the disk is full.
 */
export function fileFailure(cause: unknown, what: string, otherwise: string): SvcError {
  const isFull = isDiskFull(cause);
  return new SvcError(
    isFull ? 'SVC_DISK_FULL' : 'SVC_DATA_UNUSABLE',
    `${what}: ${reasonOf(cause)}. ${isFull ? 'Make room on its disk, and start again.' : otherwise}`,
    { cause },
  );
}

/** Returns the sentence that says what to do. `isAtStart`: the host ends, because it cannot open its journal. */
function remedy(error: unknown, isAtStart: boolean): string {
  const then = isAtStart ? 'then start the service again' : 'the service goes on by itself';
  if (isDiskFull(error)) return `Make room on the disk; ${then}.`;
  if (isBusy(error)) return `Close the other program that writes to it; ${then}.`;
  return isAtStart
    ? 'Check the disk, then start the service again.'
    : 'Check the disk; the service tries again with the next call.';
}

export function journalDamaged(path: string, what: string, cause?: unknown): SvcError {
  return new SvcError(
    'SVC_JOURNAL_CORRUPT',
    `The journal ${path} is damaged: ${what}. Restore the data folder from a backup.`,
    { cause },
  );
}

/**
 * Creates the error for damage that may be limited to an index. A backup creates the indexes again from the records.
 */
export function indexDamaged(path: string, what: string, cause?: unknown): SvcError {
  return new SvcError(
    'SVC_JOURNAL_CORRUPT',
    `The journal ${path} is damaged: ${what}. Stop the service, and keep a copy of the folder. Where an index alone ` +
      'is damaged, svc journal backup makes a journal of it with all its records; otherwise it says so, and the data ' +
      'folder is to be restored from an earlier backup.',
    { cause },
  );
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
