// SqliteCode: the result code that an error of node:sqlite has.

/** Result code of a lock that another connection has. */
export const SQLITE_BUSY = 5;

/** Returns SQLite's primary result code; undefined if SQLite did not throw the error. */
export function sqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode & 0xff : undefined;
}

export function isBusy(error: unknown): boolean {
  return sqliteCode(error) === SQLITE_BUSY;
}
