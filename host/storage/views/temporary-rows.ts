// TemporaryRows keeps the rows of folds that a tool compares. They are in a temporary file, which SQLite deletes when it is
// closed or the process ends, so that memory does not grow with the rows.
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { RowChange, StoredView, ViewRow } from '../../engine/needs/views.ts';
import type { ViewLimits } from '@svc/model/view-limits';
import { checkSizes, valuesOf } from '../view-walk/row-columns.ts';
import { viewFailure } from './view-failure.ts';

/** A row that two folds have differently. */
export interface RowDifference {
  readonly key: string;
  /** JSON text of the row in the first fold; undefined: it has none. */
  readonly one: string | undefined;
  readonly other: string | undefined;
}

export class TemporaryRows {
  /** With an empty path, SQLite makes a temporary file. */
  readonly #database = new DatabaseSync('');
  #tableCount = 0;

  constructor() {
    // Nobody reads the file after a failure.
    this.#database.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;');
  }

  /** Returns an empty table for the rows of one fold. Rows are checked as the view's own file would. */
  table(view: StoredView, limits: ViewLimits): TemporaryTable {
    return new TemporaryTable(this.#database, `row${this.#tableCount++}`, view, limits);
  }

  /** Yields the rows that differ. Both tables belong to this object. Throws SVC_DATA_UNUSABLE and SVC_DISK_FULL. */
  *differences(one: TemporaryTable, other: TemporaryTable): Generator<RowDifference, void> {
    const sql = `SELECT key, one.json AS one, other.json AS other
      FROM ${one.name} AS one FULL OUTER JOIN ${other.name} AS other USING (key)
      WHERE one.json IS NOT other.json`;
    try {
      for (const row of this.#database.prepare(sql).iterate())
        yield { key: String(row['key']), one: text(row['one']), other: text(row['other']) };
    } catch (error) {
      throw temporaryFailure(error);
    }
  }

  close(): void {
    this.#database.close();
  }
}

/** The rows of one fold, which a ViewFold can write. */
export class TemporaryTable {
  readonly name: string;
  readonly #database: DatabaseSync;
  readonly #view: StoredView;
  readonly #limits: ViewLimits;
  readonly #find: StatementSync;
  readonly #put: StatementSync;
  readonly #remove: StatementSync;

  constructor(database: DatabaseSync, name: string, view: StoredView, limits: ViewLimits) {
    this.name = name;
    this.#database = database;
    this.#view = view;
    this.#limits = limits;
    database.exec(
      `CREATE TABLE ${name} (key TEXT PRIMARY KEY, json TEXT NOT NULL) STRICT, WITHOUT ROWID`,
    );
    this.#find = database.prepare(`SELECT json FROM ${name} WHERE key = ?`);
    this.#put = database.prepare(`INSERT OR REPLACE INTO ${name} (key, json) VALUES (?, ?)`);
    this.#remove = database.prepare(`DELETE FROM ${name} WHERE key = ?`);
  }

  rows(keys: readonly string[]): readonly (string | undefined)[] {
    return guarded(() => keys.map((key) => text(this.#find.get(key)?.['json'])));
  }

  /** Stores changes. Throws SVC_VIEW_ROW_INVALID as `ViewWriter.put` does, SVC_DATA_UNUSABLE and SVC_DISK_FULL. */
  put(changes: readonly RowChange[]): void {
    const columns = this.#view.indexes.flatMap((index) =>
      index.map(({ field, type }) => ({ field, kind: type.kind })),
    );
    for (const { key, json } of changes) {
      checkSizes(key, json, this.#limits);
      if (json !== undefined) valuesOf({ key, json }, columns, this.#limits);
    }
    guarded(() => {
      this.#database.exec('BEGIN');
      for (const { key, json } of changes)
        if (json === undefined) this.#remove.run(key);
        else this.#put.run(key, json);
      this.#database.exec('COMMIT');
    });
  }

  /** Stores rows that were read from a view's file. */
  copy(rows: Iterable<ViewRow>): void {
    this.#database.exec('BEGIN');
    for (const { key, json } of rows) guarded(() => this.#put.run(key, json));
    this.#database.exec('COMMIT');
  }

  /** Returns the number of rows. */
  count(): number {
    const row = this.#database.prepare(`SELECT count(*) AS count FROM ${this.name}`).get();
    return Number(row?.['count']);
  }

  /** Removes all rows. */
  clear(): void {
    this.#database.exec(`DELETE FROM ${this.name}`);
  }
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function guarded<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw temporaryFailure(error);
  }
}

function temporaryFailure(error: unknown): unknown {
  return viewFailure(error, 'written', '(temporary, in the folder for temporary files)');
}
