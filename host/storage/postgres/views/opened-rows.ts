// OpenedRows takes the rows of a definition for a writer: makes their table if there is none, or if it cannot be used.
import type { StoredView } from '../../../engine/needs/views.ts';
import { viewInUse } from '../../view-walk/view-refusals.ts';
import { RowsTable } from './rows-table.ts';
import { UnusableRows } from './view-failure.ts';
import {
  FORMAT,
  HEAD,
  type ViewHead,
  headOf,
  layoutText,
  skipsOf,
  skipsText,
} from './view-head.ts';
import { emptyLayout } from './view-layout.ts';
import { IS_LEASED, LEASE_SECONDS, NOW_MS, ViewLease } from './view-lease.ts';
import type { ViewSession } from './view-session.ts';

export interface OpenedRows {
  readonly lease: ViewLease;
  readonly head: ViewHead;
  /** Why rows that were there could not be used; undefined: it was not so. */
  readonly discarded: string | undefined;
}

/** A table that has been given this many columns and indexes is made new: PostgreSQL allows 1,600 columns, dropped ones included. */
const NUMBERS_MAX = 1_000;

export interface Taking {
  /** Names the process for people. */
  readonly owner: string;
  /** Whether the lease is also taken from another writer, which stores nothing more then. */
  readonly takesOver: boolean;
}

/**
 * Takes the lease of a definition, in a transaction. Rejects with SVC_VIEW_IN_USE while another writer has the lease, unless it takes
 * over, and with DatabaseFailure.
 */
export function openRows(
  session: ViewSession,
  view: StoredView,
  { owner, takesOver }: Taking,
): Promise<OpenedRows> {
  return session.transaction(async () => {
    const isNew = await insertDefinition(session, view);
    const [stored = []] = await session.execute(
      `SELECT ${HEAD}, coalesce(${IS_LEASED}, false) FROM svc.view_definition WHERE definition = $1 FOR UPDATE`,
      [view.definition],
    );
    if (stored.at(-1) === true && !takesOver) throw viewInUse(view.definition);
    const discarded = isNew ? undefined : await problemOf(session, stored);
    if (isNew || discarded !== undefined) {
      const skips = skipsOf(view.definition, stored[7]) ?? [];
      await makeRows(session, view, skipsText(view, skips));
    }
    const [head = []] = await session.execute(
      `UPDATE svc.view_definition SET owner = $2, epoch = nextval('svc.view_number'), used_ms = ${NOW_MS},
          lease_until = clock_timestamp() + make_interval(secs => $3)
        WHERE definition = $1 RETURNING ${HEAD}, epoch`,
      [view.definition, owner, LEASE_SECONDS],
    );
    const lease = new ViewLease(view.definition, head.at(-1) as number);
    return { lease, head: headOf(head), discarded };
  });
}

/**
 * Gives a definition a new table without rows. It is not live then, and no event is folded. The table that it had has no owner any more,
 * and `unusedTables` lists it. `skips`: the text of the skipped events.
 */
export async function makeRows(
  session: ViewSession,
  view: StoredView,
  skips: string,
): Promise<ViewHead> {
  const layout = emptyLayout(view);
  const [head = []] = await session.execute(
    `UPDATE svc.view_definition SET format = $2, view = $3, row_type = $4, layout = $5, skips = $6,
        number = nextval('svc.view_number'), version = nextval('svc.view_number'),
        is_live = false, row_count = 0, text_bytes = 0, folded_to = NULL
      WHERE definition = $1 RETURNING ${HEAD}`,
    [view.definition, FORMAT, view.id, view.rowType, layoutText(view, layout), skips],
  );
  await session.execute(new RowsTable(head[2] as number).create(layout.columns));
  return headOf([...head.slice(0, -1), true]);
}

/** Returns whether there was no such definition. Waits for a writer that opens it at the same time. */
async function insertDefinition(session: ViewSession, view: StoredView): Promise<boolean> {
  const inserted = await session.execute(
    `INSERT INTO svc.view_definition (definition, format, view, row_type, number, version, layout, skips, used_ms, epoch)
      VALUES ($1, $2, $3, $4, 0, 0, '', '', ${NOW_MS}, 0) ON CONFLICT DO NOTHING RETURNING 1`,
    [view.definition, FORMAT, view.id, view.rowType],
  );
  return inserted.length > 0;
}

/** Returns why stored rows cannot be used; undefined if they can. */
async function problemOf(
  session: ViewSession,
  stored: readonly unknown[],
): Promise<string | undefined> {
  try {
    const head = headOf(stored);
    if (head.layout.nextNo > NUMBERS_MAX) return 'their indexes have changed too often';
    return (await isAsLaidOut(session, head))
      ? undefined
      : 'their table and its indexes are not those of the layout';
  } catch (error) {
    if (error instanceof UnusableRows) return error.message;
    throw error;
  }
}

/** Returns whether the table has the columns and indexes of the layout. */
async function isAsLaidOut(session: ViewSession, { number, layout }: ViewHead): Promise<boolean> {
  const table = new RowsTable(number);
  const found = await session.execute(
    `SELECT 'column', attname::text, format_type(atttypid, NULL) || ' ' || attcollation::regcollation FROM pg_attribute
      WHERE attrelid = to_regclass('svc.' || $1) AND attnum > 0 AND NOT attisdropped
    UNION ALL SELECT 'index', relname::text, CASE WHEN indisvalid THEN
        (SELECT string_agg(attname, ' ' ORDER BY at) FROM unnest(indkey) WITH ORDINALITY AS part (no, at)
          JOIN pg_attribute ON attrelid = indrelid AND attnum = no) END
      FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid WHERE indrelid = to_regclass('svc.' || $1)`,
    [table.name],
  );
  const text = 'text "C"';
  const expected = [
    ['column', 'key', text],
    ['column', 'json', 'text "default"'],
    ['column', 'crc', 'bigint -'],
    ...layout.columns.map(({ no }) => ['column', `c${no}`, text]),
    ['index', table.keyIndex, 'key'],
    ...layout.indexes.map(({ no, columns }) => [
      'index',
      table.indexName(no),
      [...columns.map((column) => `c${column}`), 'key'].join(' '),
    ]),
  ];
  return sorted(found) === sorted(expected);
}

function sorted(rows: readonly (readonly unknown[])[]): string {
  return rows.map(String).toSorted().join();
}
