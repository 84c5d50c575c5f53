// RowsTable: the templates of the statements on the rows of one definition. Names in them are numbers that the host gives; keys,
// JSON texts and values of fields are parameters.
//
// Invariants
// - A walk has no equality among its conditions, only a lower and an upper bound over the first columns of its index, and is ordered by
//   all of them: no other index has that order, so PostgreSQL can only walk this one, from the first row to the last.
// - Rows are locked in the order of their keys.
import assert from 'node:assert';
import { type ColumnValue } from '../../view-walk/column-value.ts';
import type { Bound, Walk } from '../../view-walk/walk.ts';
import type { Parameter } from '../database-session.ts';
import { columnText, keyText } from './column-text.ts';
import type { LayoutColumn, LayoutIndex } from './view-layout.ts';

/** Name of a table of rows without its schema, before the number. */
export const TABLE_PREFIX = 'view_rows_';
/** Type of the keys and of the columns. */
const TEXT = 'text COLLATE "C"';
/** Space in a page that new versions of its rows take, so that indexes need no other entry for them. */
const FILL_PERCENT = 80;
const VERSION = '(SELECT version FROM svc.view_definition WHERE definition = $1)';

export function columnName(no: number): string {
  assert(Number.isSafeInteger(no));
  return `c${no}`;
}

export class RowsTable {
  /** The name without its schema. */
  readonly name: string;
  readonly #table: string;

  constructor(number: number) {
    assert(Number.isSafeInteger(number));
    this.name = `${TABLE_PREFIX}${number}`;
    this.#table = `svc.${this.name}`;
  }

  get keyIndex(): string {
    return `${this.name}_key`;
  }

  indexName(no: number): string {
    return `${this.name}_${columnName(no)}`;
  }

  create(columns: readonly LayoutColumn[]): string {
    const added = columns.map(({ no }) => `, ${columnName(no)} ${TEXT}`).join('');
    return `CREATE TABLE ${this.#table} (
      key ${TEXT} CONSTRAINT ${this.keyIndex} PRIMARY KEY, json text NOT NULL, crc bigint NOT NULL${added}
    ) WITH (fillfactor = ${FILL_PERCENT})`;
  }

  drop(): string {
    return `DROP TABLE IF EXISTS ${this.#table}`;
  }

  addColumns(columns: readonly LayoutColumn[]): string {
    const added = columns.map(({ no }) => `ADD COLUMN ${columnName(no)} ${TEXT}`);
    return `ALTER TABLE ${this.#table} ${added.join(', ')}`;
  }

  dropColumns(columns: readonly LayoutColumn[]): string {
    const dropped = columns.map(({ no }) => `DROP COLUMN ${columnName(no)}`);
    return `ALTER TABLE ${this.#table} ${dropped.join(', ')}`;
  }

  createIndex({ no, columns }: LayoutIndex): string {
    return `CREATE INDEX ${this.indexName(no)} ON ${this.#table} (${pathOf(columns).join(', ')})`;
  }

  dropIndex({ no }: LayoutIndex): string {
    return `DROP INDEX svc.${this.indexName(no)}`;
  }

  /** Returns the key of a row whose entry in an index is longer than $1 bytes. */
  longEntry(columns: readonly number[]): string {
    const bytes = pathOf(columns).map((name) => `coalesce(octet_length(${name}), 0)`);
    return `SELECT key FROM ${this.#table} WHERE ${bytes.join(' + ')} > $1 LIMIT 1`;
  }

  /** Returns key, JSON and checksum of the rows of the keys $1. */
  rowsOfKeys(): string {
    return `SELECT key, json, crc FROM ${this.#table} WHERE key = ANY($1::text[])`;
  }

  /** Returns the version of the definition $1, and key, JSON and checksum of the row of the key $2, or nulls. */
  row(): string {
    return `SELECT version, key, json, crc
      FROM svc.view_definition LEFT JOIN ${this.#table} ON key = $2 WHERE definition = $1`;
  }

  /**
   * Returns the version of the definition $1, and key, JSON and checksum of the next rows of a walk, in order: at most $2 of
   * them, and from the third on none that has more than $3 bytes of keys and JSON texts before it.
   */
  page(columns: readonly number[], walk: Walk): string {
    const path = pathOf(columns);
    const order = orderOf(path, walk);
    const bytes = 'octet_length(key) + octet_length(json)';
    return `SELECT ${VERSION}, key, json, crc FROM (
        SELECT ${path.join(', ')}, json, crc, row_number() OVER walked AS at, sum(${bytes}) OVER walked - (${bytes}) AS bytes_before
        FROM ${this.#table} ${conditionOf(path, walk, 4)}
        WINDOW walked AS (ORDER BY ${order} ROWS UNBOUNDED PRECEDING) ORDER BY ${order} LIMIT $2
      ) AS page WHERE bytes_before <= $3 OR at <= 2 ORDER BY ${order}`;
  }

  /** Returns the version of the definition $1, and the number of rows of a walk, at most $2. */
  count(columns: readonly number[], walk: Walk): string {
    const path = pathOf(columns);
    return `SELECT ${VERSION}, count(*) FROM (
        SELECT FROM ${this.#table} ${conditionOf(path, walk, 3)} ORDER BY ${orderOf(path, walk)} LIMIT $2
      ) AS counted`;
  }

  /**
   * Stores rows with the values of the columns, and removes others, if the writer of the definition $1 has the epoch $2. $3: all keys,
   * in any order. $4: those of the rows to remove. $5: the bytes of the rows to store. $6: the text for `folded_to`. $7: seconds of the
   * lease. $8, $9 and $10: keys, JSON texts and checksums of the rows to store; the values of each column follow. Returns the
   * number of rows and their bytes, or nothing if the epoch is another one.
   */
  put(columns: readonly LayoutColumn[]): string {
    const names = ['json', 'crc', ...columns.map(({ no }) => columnName(no))];
    const arrays = columns.map((_, at) => `, $${11 + at}::text[]`).join('');
    // Reading them makes them happen before what follows.
    const isHeld = 'EXISTS (SELECT FROM held) AND (SELECT count(*) FROM before) >= 0';
    return `WITH held AS MATERIALIZED (
        SELECT FROM svc.view_definition WHERE definition = $1 AND epoch = $2 FOR UPDATE
      ), before AS MATERIALIZED (
        SELECT octet_length(key) + octet_length(json) AS bytes FROM ${this.#table}
        WHERE key = ANY($3::text[]) AND EXISTS (SELECT FROM held) ORDER BY key FOR UPDATE
      ), removed AS (
        DELETE FROM ${this.#table} WHERE key = ANY($4::text[]) AND ${isHeld}
      ), stored AS (
        INSERT INTO ${this.#table} (key, ${names.join(', ')})
        SELECT * FROM unnest($8::text[], $9::text[], $10::bigint[]${arrays}) AS change (key, ${names.join(', ')})
        WHERE ${isHeld} ORDER BY key COLLATE "C"
        ON CONFLICT (key) DO UPDATE SET ${names.map((name) => `${name} = excluded.${name}`).join(', ')}
      )
      UPDATE svc.view_definition SET
        row_count = row_count + cardinality($8::text[]) - (SELECT count(*) FROM before),
        text_bytes = text_bytes + $5 - (SELECT coalesce(sum(bytes), 0) FROM before),
        folded_to = $6, lease_until = clock_timestamp() + make_interval(secs => $7)
      WHERE definition = $1 AND EXISTS (SELECT FROM held) RETURNING row_count, text_bytes`;
  }

  /**
   * Fills columns of the rows $4, whose values follow, and stores the layout $3, if the writer of the definition $1 has the epoch
   * $2. Returns a row, or nothing if the epoch is another one.
   */
  fill(columns: readonly LayoutColumn[]): string {
    const names = columns.map(({ no }) => columnName(no));
    const arrays = names.map((_, at) => `, $${5 + at}::text[]`).join('');
    return `WITH held AS MATERIALIZED (
        SELECT FROM svc.view_definition WHERE definition = $1 AND epoch = $2 FOR UPDATE
      ), filled AS (
        UPDATE ${this.#table} AS stored SET ${names.map((name) => `${name} = change.${name}`).join(', ')}
        FROM unnest($4::text[]${arrays}) AS change (key, ${names.join(', ')})
        WHERE stored.key = change.key AND EXISTS (SELECT FROM held)
      )
      UPDATE svc.view_definition SET layout = $3 WHERE definition = $1 AND EXISTS (SELECT FROM held) RETURNING 1`;
  }
}

/** Returns a walk of the keys after this one; of all keys if it is null. */
export function keysAfter(key: string | null): Walk {
  return {
    columns: [{ field: undefined, kind: 'text' }],
    equals: [],
    lower: key === null ? undefined : { values: [key], isInclusive: false },
    upper: undefined,
    descending: false,
    isEmpty: false,
  };
}

/** Returns the values of the bounds of a walk, in the order of their parameters. */
export function boundTexts(walk: Walk): readonly Parameter[] {
  const { lower, upper } = boundsOf(walk);
  return [...textsOf(walk, lower), ...textsOf(walk, upper)];
}

function textsOf(walk: Walk, bound: Bound | undefined): readonly string[] {
  const keyAt = walk.columns.length - 1;
  return (bound?.values ?? []).map((value: ColumnValue, at) =>
    at === keyAt ? keyText(String(value)) : columnText(value),
  );
}

/** Returns the bounds over the columns of the index from the first on. */
function boundsOf({ equals, lower, upper }: Walk): Pick<Walk, 'lower' | 'upper'> {
  const all = equals.length === 0 ? undefined : { values: equals, isInclusive: true };
  const whole = (bound: Bound | undefined): Bound | undefined =>
    bound === undefined ? all : { ...bound, values: [...equals, ...bound.values] };
  return { lower: whole(lower), upper: whole(upper) };
}

/** `first`: the number of the first parameter. */
function conditionOf(path: readonly string[], walk: Walk, first: number): string {
  const { lower, upper } = boundsOf(walk);
  const terms: string[] = [];
  let next = first;
  const add = (bound: Bound | undefined, operator: string) => {
    if (bound === undefined) return;
    const names = path.slice(0, bound.values.length);
    const values = names.map(() => `$${next++}`);
    terms.push(
      `(${names.join(', ')}) ${operator}${bound.isInclusive ? '=' : ''} (${values.join(', ')})`,
    );
  };
  add(lower, '>');
  add(upper, '<');
  return terms.length === 0 ? '' : `WHERE ${terms.join(' AND ')}`;
}

function orderOf(path: readonly string[], { descending }: Walk): string {
  return path.map((name) => `${name} ${descending ? 'DESC' : 'ASC'}`).join(', ');
}

function pathOf(columns: readonly number[]): readonly string[] {
  return [...columns.map(columnName), 'key'];
}
