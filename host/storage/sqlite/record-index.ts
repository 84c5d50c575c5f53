// Where the records of each entity lie: the index of the records by entity and number. The table `journal` grows at
// its end alone. The entries are in three tables of one form: what was committed last is in a small one, and
// IndexCompaction brings it in sorted runs into a larger one, and from there into that which has all the others. So a
// commit touches a few pages, however many entities there are.
//
// Invariants
// P1  Each record has its place in exactly one of the tables, stored or moved in one transaction.
// P2  Of an entity, the entries in a table of newer ones come after all those in a table of older ones.
import { FORMAT_VERSION, recordColumns } from './journal-schema.ts';

/** The newest entries first. */
export const LEVEL_TABLES = ['place_new', 'place_recent', 'place_old'] as const;

/** Journals of the formats before have an index of SQLite's own. */
const SINCE_FORMAT = 4;

/**
 * The records of one entity, in the order of their numbers. `eno`, `which` and `limit` are SQL, with numbered
 * parameters: they stand there more than once. Of a record that is not in its place, all is null but its number.
 */
export function recordsOf(entityNo: string, which: string, limit: string): string {
  // The entries alone are merged: whole records would be copied once more, and the journal opened for each table.
  const entries = union(
    (table) => `SELECT eno, seq, pos FROM ${table} WHERE eno = ${entityNo} AND ${which}`,
    `ORDER BY seq LIMIT ${limit}`,
  );
  return `SELECT ${recordColumns()} FROM (${entries}) LEFT JOIN journal USING (eno, seq, pos) ORDER BY seq`;
}

/** `pos` of an entity's records, at most so many: by P2 in the order of their numbers, with nothing merged for it. */
export function positionsOf(entityNo: string, which: string, limit: string): string {
  const positions = LEVEL_TABLES.toReversed().map(
    (table) => `SELECT pos FROM ${table} WHERE eno = ${entityNo} AND ${which}`,
  );
  return `${positions.join(' UNION ALL ')} LIMIT ${limit}`;
}

/** As `recordsOf`, in a journal of any format. What is not in its place is left out. */
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
 * The records of the entities that `which` says, in the order of ids and numbers; an entity without one has a row
 * with its id alone. Few entities: those without a place in one of the tables are looked through for it.
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

/** The place of a record; null: there is none. */
export function positionOf(entityNo: string, seq: string): string {
  return `(${union((table) => `SELECT pos FROM ${table} WHERE eno = ${entityNo} AND seq = ${seq}`)} LIMIT 1)`;
}

/** `seq` or `pos` of an entity's last record; null: it has none. */
export function lastOf(column: 'seq' | 'pos', entityNo: string, format = FORMAT_VERSION): string {
  const last = (table: string) =>
    `(SELECT ${column} FROM ${table} WHERE eno = ${entityNo} ORDER BY seq DESC LIMIT 1)`;
  return format < SINCE_FORMAT
    ? last('journal')
    : `coalesce(${LEVEL_TABLES.map((table) => last(table)).join(', ')})`;
}

/**
 * The index by itself, in its order from after a key: `eno`, `seq`, `pos`, and `rank`, which is the greater the newer
 * the entries of the table are that has this one.
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

/** Whether the index has the row `t` of the table. */
export function isIndexed(format: number): string {
  return format < SINCE_FORMAT
    ? isIn('journal i INDEXED BY sqlite_autoindex_journal_1')
    : `(${LEVEL_TABLES.map((table) => isIn(`${table} i`)).join(' OR ')})`;
}

function isIn(index: string): string {
  return `EXISTS (SELECT 1 FROM ${index} WHERE i.eno = t.eno AND i.seq = t.seq AND i.pos = t.pos)`;
}

function union(
  select: (table: string, index: number) => string,
  end = '',
  ...others: readonly string[]
): string {
  return `${[...LEVEL_TABLES.map(select), ...others].join(' UNION ALL ')} ${end}`;
}
