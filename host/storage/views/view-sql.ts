// ViewSql: the templates of all statements on rows. Names in them are numbers that the host gives; keys, JSON texts and
// values of fields are bound. No text of a descriptor, a module or a caller is part of a statement.
import type { Walk } from '../view-walk/walk.ts';
import type { LayoutColumn } from './view-meta.ts';

export function columnName(no: number): string {
  return `f${no}`;
}

export function indexName(no: number): string {
  return `i${no}`;
}

/** Name of the index of the keys. */
export const KEY_INDEX = 'row_key';

/** Selects key, JSON and checksum of the row of a key. */
export const KEY_ROW_SQL = `SELECT key, json, crc FROM row INDEXED BY ${KEY_INDEX} WHERE key = ?`;
export const REMOVE_SQL = 'DELETE FROM row WHERE key = ?';

/** Stores a row: id for a new row, key, JSON, checksum, and the values of the columns. */
export function putSql(columns: readonly LayoutColumn[]): string {
  const names = ['key', 'json', 'crc', ...columns.map(({ no }) => columnName(no))];
  const set = names.slice(1).map((name) => `${name} = excluded.${name}`);
  return `
    INSERT INTO row (id, ${names.join(', ')}) VALUES (?${', ?'.repeat(names.length)})
    ON CONFLICT (key) DO UPDATE SET ${set.join(', ')}
  `;
}

/** Fills columns of a row: their values, and the row's id. */
export function fillSql(columns: readonly LayoutColumn[]): string {
  return `UPDATE row SET ${columns.map(({ no }) => `${columnName(no)} = ?`).join(', ')} WHERE id = ?`;
}

/** Where a walk goes in a file: an index, and the names of its columns, with the key's. */
export interface WalkPath {
  readonly index: string;
  readonly columns: readonly string[];
}

/** Selects key, JSON and checksum of the rows of a walk, in order. */
export function pageSql(path: WalkPath, walk: Walk): string {
  const direction = walk.descending ? 'DESC' : 'ASC';
  const open = path.columns.slice(walk.equals.length).map((name) => `${name} ${direction}`);
  const order = open.length === 0 ? '' : `ORDER BY ${open.join(', ')}`;
  return `SELECT key, json, crc FROM row INDEXED BY ${path.index} ${condition(path, walk)} ${order} LIMIT ?`;
}

/** Counts the rows of a walk, to a limit. */
export function countSql(path: WalkPath, walk: Walk): string {
  return `
    SELECT count(*) FROM (SELECT 1 FROM row INDEXED BY ${path.index} ${condition(path, walk)} LIMIT ?)
  `;
}

/** The condition is equalities and at most two bounds, so that SQLite looks for the first row and stops after the last. */
function condition({ columns }: WalkPath, { equals, lower, upper }: Walk): string {
  const open = columns.slice(equals.length);
  const terms = columns.slice(0, equals.length).map((name) => `${name} = ?`);
  const bound = (values: readonly unknown[], operator: string): string =>
    values.length === 1
      ? `${open[0]} ${operator} ?`
      : `(${open.slice(0, values.length).join(', ')}) ${operator} (?${', ?'.repeat(values.length - 1)})`;
  if (lower !== undefined) terms.push(bound(lower.values, lower.isInclusive ? '>=' : '>'));
  if (upper !== undefined) terms.push(bound(upper.values, upper.isInclusive ? '<=' : '<'));
  return terms.length === 0 ? '' : `WHERE ${terms.join(' AND ')}`;
}
