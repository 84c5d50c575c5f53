// RecordIndex is the levelled index of the records by entity and number: an entry has the position of a record in the
// table `journal`, which grows only at its end. Level 0 (the table `place_new`) is small and has the entries of the
// last commits. IndexCompaction moves them in sorted runs into level 1 (`place_recent`), and from there into level 2
// (`place_old`), which has all the others. So a commit touches few pages, however many entities there are.
//
// Invariants
// P1  Each record has exactly one entry, in one of the levels; it is stored or moved in one transaction.
// P2  The entries of an entity in a lower level have greater record numbers than its entries in every higher level.
import { FORMAT_VERSION, recordColumns } from './journal-schema.ts';

/** The tables of the levels 0, 1 and 2: the newest entries first. */
export const LEVEL_TABLES = ['place_new', 'place_recent', 'place_old'] as const;

/** The first format with the levelled index; earlier ones have an index of SQLite. */
const SINCE_FORMAT = 4;

/**
 * Returns SQL for the records of one entity, in the order of their numbers. `which`: the condition on their entries.
 * `entityNo`, `which` and `limit` are SQL with numbered parameters, because the statement contains them more than once.
 * Where an entry leads to no record, everything but its position and number is null.
 */
export function recordsOf(entityNo: string, which: string, limit: string): string {
  // Only entries are merged: merging whole records would copy them once more, and open the journal for each level.
  const entries = union(
    (table) => `SELECT eno, seq, pos FROM ${table} WHERE eno = ${entityNo} AND ${which}`,
    `ORDER BY seq LIMIT ${limit}`,
  );
  return `SELECT ${recordColumns()} FROM (${entries}) LEFT JOIN journal USING (eno, seq, pos) ORDER BY seq`;
}

/**
 * Returns SQL for `pos` of an entity's records. By P2 these are in the order of the records' numbers without a merge.
 */
export function positionsOf(entityNo: string, which: string, limit: string): string {
  const positions = LEVEL_TABLES.toReversed().map(
    (table) => `SELECT pos FROM ${table} WHERE eno = ${entityNo} AND ${which}`,
  );
  return `${positions.join(' UNION ALL ')} LIMIT ${limit}`;
}

/** Returns SQL as `recordsOf` does, for a journal of any format. Entries that lead to no record are left out. */
export function storedRecordsOf(
  format: number,
  entityNo: string,
  which: string,
  limit: string,
): string {
  const order = `ORDER BY seq LIMIT ${limit}`;
  return format < SINCE_FORMAT
    ? `SELECT ${recordColumns(format)} FROM journal WHERE eno = ${entityNo} AND ${which} ${order}`
    : union(
        (table) => `SELECT ${recordColumns(format)}
          FROM ${table} CROSS JOIN journal USING (eno, seq, pos) WHERE eno = ${entityNo} AND ${which}`,
        order,
      );
}

/**
 * Returns SQL for the records of the entities that the condition `which` selects, in the order of ids and numbers. An
 * entity without records has one row, with its id alone. The condition should select few entities, because each is
 * looked up in each level.
 */
export function historiesOf(format: number, which: string, limit: string): string {
  const columns = recordColumns(format);
  const order = `ORDER BY id, seq LIMIT ${limit}`;
  if (format < SINCE_FORMAT)
    return `SELECT id, ${columns} FROM entity LEFT JOIN journal USING (eno) WHERE ${which} ${order}`;
  const nulls = columns.split(', ').map(() => 'NULL');
  const withoutRecord = `SELECT id, ${nulls.join(', ')} FROM entity
    WHERE ${which} AND ${lastOf('pos', 'entity.eno')} IS NULL`;
  return union(
    (table) => `SELECT id, ${columns} FROM entity
      CROSS JOIN ${table} USING (eno) CROSS JOIN journal USING (eno, seq, pos) WHERE ${which}`,
    order,
    withoutRecord,
  );
}

/** Returns SQL for the position of a record, which is null if there is no such record. */
export function positionOf(entityNo: string, seq: string): string {
  return `(${union((table) => `SELECT pos FROM ${table} WHERE eno = ${entityNo} AND seq = ${seq}`)} LIMIT 1)`;
}

/** Returns SQL for `seq` or `pos` of an entity's last record, which is null if it has no record. */
export function lastOf(column: 'seq' | 'pos', entityNo: string, format = FORMAT_VERSION): string {
  const last = (table: string) =>
    `(SELECT ${column} FROM ${table} WHERE eno = ${entityNo} ORDER BY seq DESC LIMIT 1)`;
  return format < SINCE_FORMAT
    ? last('journal')
    : `coalesce(${LEVEL_TABLES.map((table) => last(table)).join(', ')})`;
}

/**
 * Returns SQL for the entries of the index that follow a key, in the order of the index: `eno`, `seq`, `pos`, and
 * `rank`, which is greater for a lower level.
 */
export function entriesAfter(format: number, limit: number): string {
  const page = `(eno, seq) >= (?1, ?2) AND (eno, seq, pos) > (?1, ?2, ?3)`;
  const order = `ORDER BY eno, seq, pos LIMIT ${limit}`;
  if (format < SINCE_FORMAT)
    return `SELECT eno, seq, pos, 0 AS rank FROM journal INDEXED BY sqlite_autoindex_journal_1 WHERE ${page} ${order}`;
  return union(
    (table, index) =>
      `SELECT eno, seq, pos, ${LEVEL_TABLES.length - index} AS rank FROM ${table} WHERE ${page}`,
    order,
  );
}

/** Returns SQL for whether the index has an entry for the row `t` of the table `journal`. */
export function isIndexed(format: number): string {
  return format < SINCE_FORMAT
    ? isIn('journal i INDEXED BY sqlite_autoindex_journal_1')
    : `(${LEVEL_TABLES.map((table) => isIn(`${table} i`)).join(' OR ')})`;
}

function isIn(index: string): string {
  return `EXISTS (SELECT 1 FROM ${index} WHERE i.eno = t.eno AND i.seq = t.seq AND i.pos = t.pos)`;
}

/** Returns SQL for the rows that `select` finds in each level and those of `others`, followed by `end`. */
function union(
  select: (table: string, index: number) => string,
  end = '',
  ...others: readonly string[]
): string {
  return `${[...LEVEL_TABLES.map(select), ...others].join(' UNION ALL ')} ${end}`;
}
