// ViewScan reads all rows of a definition for a tool, as they are at one moment, also while a service writes them.
import type { StoredView } from '../../../engine/needs/views.ts';
import type { ScannedView, TakeRows } from '../../view-walk/scanned-view.ts';
import { RowsTable, boundTexts, keysAfter } from './rows-table.ts';
import { checkedRow } from './stored-row.ts';
import type { Connect } from './view-database.ts';
import { viewFailure } from './view-failure.ts';
import { HEAD, headOf } from './view-head.ts';
import { type SessionSettings, ViewSession, isMissing } from './view-session.ts';

/** Rows and bytes that are read at a time. */
const PART_ROWS_MAX = 5_000;
const PART_BYTES_MAX = 4 * 1024 * 1024;
/** How often a scan begins again because the rows were made new meanwhile. */
const ATTEMPTS_MAX = 3;

/** All statements of a transaction read the rows of one moment. */
const SETTINGS: SessionSettings = {
  default_transaction_isolation: 'repeatable read',
  default_transaction_read_only: 'on',
};

/**
 * Gives the rows of a definition to `take`, unless no event is folded into them, and returns how far they are; undefined if there
 * are none. `shown`: the database. Rejects with SVC_VIEW_CORRUPT, SVC_JOURNAL_UNAVAILABLE, and with the errors of `connect`.
 */
export async function scanViewRows(
  connect: Connect,
  shown: string,
  view: StoredView,
  take: TakeRows,
): Promise<ScannedView | undefined> {
  const connection = await connect();
  try {
    const session = await ViewSession.open(connection, SETTINGS);
    for (let attempt = 1; ; attempt++)
      try {
        return await session.transaction(() => scan(session, view, take));
      } catch (error) {
        if (!isMissing(error) || attempt === ATTEMPTS_MAX) throw error;
      }
  } catch (error) {
    throw viewFailure(error, view.definition, shown);
  } finally {
    await connection.close();
  }
}

async function scan(
  session: ViewSession,
  { definition }: StoredView,
  take: TakeRows,
): Promise<ScannedView | undefined> {
  const [found] = await session.execute(
    `SELECT ${HEAD} FROM svc.view_definition WHERE definition = $1`,
    [definition],
  );
  if (found === undefined) return undefined;
  const { number, foldedTo, skips } = headOf(found);
  if (foldedTo === undefined) return { foldedTo, skips };
  const table = new RowsTable(number);
  let last: string | null = null;
  for (;;) {
    const walk = keysAfter(last);
    const values = [definition, PART_ROWS_MAX, PART_BYTES_MAX, ...boundTexts(walk)];
    const part = await session.query(table.page([], walk), values);
    const rows = part.map(([, key, json, crc]) => checkedRow(key, json, crc));
    take(rows, last === null);
    if (rows.length === 0) return { foldedTo, skips };
    last = rows.at(-1).key;
  }
}
