// ViewIndexes turns the columns and indexes of a view's file into those that the view declares, while rows are read and
// written. Work is done in steps, each in a transaction of its own, which the next writer continues.
//
// 1. When the file is opened, a column without values is added for each declared field that has none. From then on all
//    rows that are written have its value.
// 2. Indexes that are no longer declared are dropped, one in a step. Their columns stay in the rows, unused.
// 3. The columns are filled in the other rows, in the order of their ids.
// 4. Missing indexes are made, one in a step.
import type { DatabaseSync } from 'node:sqlite';
import type { StoredView, ViewIndex } from '../../engine/needs/views.ts';
import type { ViewLimits } from '@svc/model/view-limits';
import { valuesOf } from '../view-walk/row-columns.ts';
import { type StoredRow, checkedRow } from './row-checksum.ts';
import { UnusableFile } from './view-file.ts';
import type { Layout, LayoutColumn, LayoutIndex, ViewMeta } from './view-meta.ts';
import type { ViewQuota } from './view-quota.ts';
import { indexBytes } from './view-quota.ts';
import { columnName, fillSql, indexName } from './view-sql.ts';
import { inTransaction } from './view-transaction.ts';

/** UTF-8 bytes of rows after which a step ends, so that large rows are filled in small steps. */
const STEP_BYTES_MAX = 4 * 1024 * 1024;
/** A file that has been given this many columns and indexes is made new: SQLite allows 2,000 columns. */
const NUMBERS_MAX = 1_000;

export interface IndexedFile {
  readonly path: string;
  readonly database: DatabaseSync;
  readonly meta: ViewMeta;
  readonly quota: ViewQuota;
}

export class ViewIndexes {
  readonly #file: IndexedFile;
  readonly #view: StoredView;
  readonly #limits: ViewLimits;
  #layout: Layout;

  /** `rowCount` is the number of rows in the file. Throws UnusableFile, and errors of SQLite. */
  constructor(file: IndexedFile, view: StoredView, limits: ViewLimits, rowCount: number) {
    this.#file = file;
    this.#view = view;
    this.#limits = limits;
    this.#layout = file.meta.layout()!;
    if (this.#layout.nextNo > NUMBERS_MAX)
      throw new UnusableFile('its indexes have changed too often');
    this.#addColumns(rowCount);
  }

  /** The columns that a row is written with. */
  get columns(): readonly LayoutColumn[] {
    return this.#layout.columns;
  }

  /** How many indexes a row has entries in, beside that of the keys. */
  get count(): number {
    return Math.max(this.#layout.indexes.length, this.#view.indexes.length);
  }

  get areReady(): boolean {
    return this.#undeclared() === undefined && this.#missing() === undefined;
  }

  /** Does one step; returns whether the indexes are ready then. Throws as `ViewWriter.prepareIndexes` does. */
  step(rowsMax: number, rowCount: number): boolean {
    const undeclared = this.#undeclared();
    if (undeclared !== undefined) this.#drop(undeclared);
    else if (this.#layout.columns.some(({ isFilled }) => !isFilled)) this.#fill(rowsMax);
    else {
      const missing = this.#missing();
      if (missing !== undefined) this.#make(missing, rowCount);
    }
    return this.areReady;
  }

  #addColumns(rowCount: number): void {
    const columns = this.#neededColumns(this.#layout.indexes);
    let { nextNo, filledTo } = this.#layout;
    const added: LayoutColumn[] = [];
    for (const { field, type } of this.#view.indexes.flat()) {
      const isKnown = [...columns, ...added].some(
        (column) => column.field === field && column.kind === type.kind,
      );
      if (isKnown) continue;
      added.push({ field, kind: type.kind, no: nextNo++, isFilled: rowCount === 0 });
      filledTo = 0;
    }
    if (added.length === 0 && columns.length === this.#layout.columns.length) return;
    const layout = { ...this.#layout, columns: [...columns, ...added], nextNo, filledTo };
    this.#change(
      layout,
      added.map(({ no }) => `ALTER TABLE row ADD COLUMN ${columnName(no)} ANY`),
    );
  }

  /** Returns the columns that a declared index or one of these has. */
  #neededColumns(indexes: readonly LayoutIndex[]): readonly LayoutColumn[] {
    const declared = this.#view.indexes.flat();
    return this.#layout.columns.filter(
      ({ no, field, kind }) =>
        indexes.some(({ columns }) => columns.includes(no)) ||
        declared.some((column) => column.field === field && column.type.kind === kind),
    );
  }

  #drop(index: LayoutIndex): void {
    const indexes = this.#layout.indexes.filter(({ no }) => no !== index.no);
    const layout = { ...this.#layout, columns: this.#neededColumns(indexes), indexes };
    this.#change(layout, [`DROP INDEX ${indexName(index.no)}`]);
  }

  #make(index: ViewIndex, rowCount: number): void {
    this.#file.quota.reserve(indexBytes(rowCount));
    const columns = this.#columnsOf(index)!;
    const no = this.#layout.nextNo;
    const names = [...columns.map(columnName), 'key'];
    const layout = {
      ...this.#layout,
      indexes: [...this.#layout.indexes, { no, columns }],
      nextNo: no + 1,
    };
    this.#change(layout, [`CREATE INDEX ${indexName(no)} ON row (${names.join(', ')})`]);
  }

  /** Fills the columns that are not filled, in the next rows. */
  #fill(rowsMax: number): void {
    const { database, meta } = this.#file;
    const columns = this.#layout.columns.filter(({ isFilled }) => !isFilled);
    const fill = database.prepare(fillSql(columns));
    this.#layout = inTransaction(database, () => {
      const { rows, isWhole } = this.#nextRows(rowsMax);
      for (const [id, ...stored] of rows) {
        const row = checkedRow(stored, this.#file.path);
        fill.run(...valuesOf(row, columns, this.#limits), id);
      }
      const layout: Layout = isWhole
        ? { ...this.#layout, columns: this.#layout.columns.map(filled), filledTo: 0 }
        : { ...this.#layout, filledTo: rows.at(-1)![0] };
      meta.keepLayout(layout);
      return layout;
    });
  }

  /** Reads the rows that are filled next. `isWhole`: there are no more. */
  #nextRows(rowsMax: number): { readonly rows: readonly RowToFill[]; readonly isWhole: boolean } {
    const next = this.#file.database.prepare(
      'SELECT id, key, json, crc FROM row WHERE id > ? ORDER BY id LIMIT ?',
    );
    next.setReturnArrays(true);
    const rows: RowToFill[] = [];
    let bytes = 0;
    for (const found of next.iterate(this.#layout.filledTo, rowsMax)) {
      const row = found as unknown as RowToFill;
      rows.push(row);
      bytes += String(row[2]).length;
      if (bytes > STEP_BYTES_MAX) return { rows, isWhole: false };
    }
    return { rows, isWhole: rows.length < rowsMax };
  }

  /** Returns an index of the file that is not declared; undefined if there is none. */
  #undeclared(): LayoutIndex | undefined {
    const declared = new Set(this.#view.indexes.map((index) => this.#columnsOf(index)?.join()));
    return this.#layout.indexes.find(({ columns }) => !declared.has(columns.join()));
  }

  /** Returns a declared index that the file does not have; undefined if there is none. */
  #missing(): ViewIndex | undefined {
    return this.#view.indexes.find((index) => {
      const columns = this.#columnsOf(index)?.join();
      return !this.#layout.indexes.some((made) => made.columns.join() === columns);
    });
  }

  #columnsOf(index: ViewIndex): readonly number[] | undefined {
    return columnNumbers(this.#layout, index);
  }

  #change(layout: Layout, statements: readonly string[]): void {
    const { database, meta } = this.#file;
    inTransaction(database, () => {
      for (const statement of statements) database.exec(statement);
      meta.keepLayout(layout);
    });
    this.#layout = layout;
  }
}

type RowToFill = readonly [id: number, ...StoredRow];

/** Returns the numbers of an index's columns; undefined if the layout lacks one. */
export function columnNumbers(layout: Layout, index: ViewIndex): readonly number[] | undefined {
  const numbers = index.map(
    ({ field, type }) =>
      layout.columns.find((column) => column.field === field && column.kind === type.kind)?.no,
  );
  return numbers.includes(undefined) ? undefined : (numbers as number[]);
}

function filled(column: LayoutColumn): LayoutColumn {
  return { ...column, isFilled: true };
}
