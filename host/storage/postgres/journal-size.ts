// JournalSize measures how much of a database the journal takes. PostgreSQL does not give the space of removed rows back to the disk:
// it fills that space again with rows of the same table. So the space does not count that rows have left in tables from which rows
// are removed: expired replies, old snapshots, ended timers, rows of views.
//
// Invariants
// - The table of the records counts as it is, because nothing is removed from it. So do a table without statistics and one
//   that is small: of small ones, some leave space free on purpose.
// - No table counts more than it has.
import type { DatabaseSession } from './database-session.ts';

/** The bytes of a row beside its columns: header, pointer and padding. */
const ROW_BYTES = 36;
/** Smaller tables count as they are. */
const SMALL_BYTES = 1024 * 1024;
/** Rows are taken for so much larger than the statistics say, because these are estimates. A full table counts as it is. */
const MARGIN = 1.25;

/**
 * VACUUM and ANALYZE, which autovacuum runs, note the rows and pages of a table and the widths of its columns. What has come since then
 * is either in further pages, or in free space, and then in the server's count of rows, which is some seconds old and which a crash
 * resets.
 */
const BYTES = {
  name: 'journal-bytes',
  text: `SELECT coalesce(sum(
      CASE WHEN t.name = 'journal' OR t.total < ${SMALL_BYTES} OR t.noted_rows < 0 OR t.row_bytes IS NULL THEN t.total
      ELSE t.total * least(1, greatest(
        t.counted_rows * t.row_bytes, t.noted_rows * t.row_bytes + t.heap - t.noted_heap) / greatest(t.heap, 1)) END
    ), 0)::int8
    FROM (
      SELECT c.relname AS name, pg_total_relation_size(c.oid) AS total, pg_relation_size(c.oid) AS heap,
        c.reltuples AS noted_rows, c.relpages * current_setting('block_size')::int8 AS noted_heap,
        pg_stat_get_live_tuples(c.oid) AS counted_rows,
        (SELECT ${MARGIN} * (${ROW_BYTES} + sum(s.avg_width * (1 - s.null_frac))) FROM pg_stats s
          WHERE s.schemaname = 'svc' AND s.tablename = c.relname) AS row_bytes
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = 'svc' AND c.relkind = 'r'
    ) t`,
};

/** Returns the bytes of all tables and indexes of the journal, without the space that is used again. Rejects with DatabaseFailure. */
export async function journalBytes(session: DatabaseSession): Promise<number> {
  const [row] = await session.query(BYTES);
  return row![0] as number;
}
