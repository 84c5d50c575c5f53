// UnusedTables: tables of rows that belong to no definition any more, because it was removed, or its rows were made new. They are dropped as soon
// as no statement reads them, and by the next store that removes unused definitions at the latest.
import { RowsTable, TABLE_PREFIX } from './rows-table.ts';
import { type ViewSession, isLockTimeout } from './view-session.ts';

/**
 * How long a change of a table waits for the statements that read it, in milliseconds. Later ones wait behind it meanwhile, so it
 * gives up, and is tried again.
 */
const CHANGE_WAIT_MS = 200;
/** Settings of a transaction that changes a table which others read. */
export const CHANGING = { lock_timeout: String(CHANGE_WAIT_MS) };

/** Drops the table of this number, unless it is read. Rejects with DatabaseFailure. */
export async function dropTable(session: ViewSession, number: number): Promise<void> {
  try {
    await session.transaction(() => session.execute(new RowsTable(number).drop()), CHANGING);
  } catch (error) {
    if (!isLockTimeout(error)) throw error;
  }
}

/** Drops the tables that belong to no definition, unless they are read. Rejects with DatabaseFailure. */
export async function dropUnusedTables(session: ViewSession): Promise<void> {
  const found = await session.execute(
    `SELECT substr(relname, ${TABLE_PREFIX.length + 1})::bigint FROM pg_class
      WHERE relnamespace = 'svc'::regnamespace AND relkind = 'r' AND relname ~ '^${TABLE_PREFIX}[0-9]{1,15}$'
        AND relname NOT IN (SELECT '${TABLE_PREFIX}' || number FROM svc.view_definition)`,
  );
  for (const [number] of found) await dropTable(session, number as number);
}
