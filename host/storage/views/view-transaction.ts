// ViewTransaction: what a writer of a view's file does is stored as a whole, or not at all.
import type { DatabaseSync } from 'node:sqlite';

/** Runs `work` in a transaction, which is rolled back if `work` or the commit throws. */
export function inTransaction<T>(database: DatabaseSync, work: () => T): T {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } finally {
    if (database.isTransaction) database.exec('ROLLBACK');
  }
}
