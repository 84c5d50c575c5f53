// ViewIndexing turns the columns and indexes of a table of rows into those that the view declares, while rows are read and written. Work is
// done in steps, each in a transaction of its own, which the next writer continues.
//
// 1. A column without values is added for each declared field that has none. From then on all rows that are written have its value.
// 2. Indexes that are no longer declared are dropped, one in a step, with the columns that only they had.
// 3. The columns are filled in the other rows, in the order of their keys.
// 4. Missing indexes are made, one in a step.
import type { StoredView, ViewIndex } from '../../../engine/needs/views.ts';
import type { ViewLimits } from '@svc/model/view-limits';
import { keyOfText, keyText } from './column-text.ts';
import { ENTRY_BYTES_MAX, RowEntryTexts, entryTooLong } from './row-entry-texts.ts';
import { RowsTable, boundTexts, keysAfter } from './rows-table.ts';
import { checkedRow } from './stored-row.ts';
import { CHANGING } from './unused-tables.ts';
import type { ViewDatabase } from './view-database.ts';
import { type ViewHead, layoutText } from './view-head.ts';
import {
  type LayoutIndex,
  type ViewLayout,
  columnNumbers,
  missingIndex,
  undeclaredIndex,
  withColumns,
  withIndex,
  withoutIndex,
} from './view-layout.ts';
import type { ViewLease } from './view-lease.ts';
import { type ViewQuota, indexBytes } from './view-quota.ts';
import { type ViewSession, isLockTimeout } from './view-session.ts';

/** UTF-8 bytes of rows after which a step ends, so that large rows are filled in small steps. */
const STEP_BYTES_MAX = 4 * 1024 * 1024;
/** Sets another layout, after which readers look for their indexes again. */
const SET_LAYOUT = "layout = $3, version = nextval('svc.view_number')";

export interface IndexingNeeds {
  readonly database: ViewDatabase;
  readonly view: StoredView;
  readonly limits: ViewLimits;
  readonly lease: ViewLease;
  readonly quota: ViewQuota;
}

export class ViewIndexing {
  readonly #needs: IndexingNeeds;

  constructor(needs: IndexingNeeds) {
    this.#needs = needs;
  }

  /** Returns whether the indexes are those that the view declares. */
  areReady({ layout }: ViewHead): boolean {
    const { view } = this.#needs;
    return undeclaredIndex(layout, view) === undefined && missingIndex(layout, view) === undefined;
  }

  /**
   * Does one step, unless statements that read the table hold it up, and returns the head then. `signal` ends the making of an
   * index. Rejects as `ViewWriter.prepareIndexes` does, and with DatabaseFailure.
   */
  async step(head: ViewHead, rowsMax: number, signal: AbortSignal): Promise<ViewHead> {
    try {
      return await this.#step(head, rowsMax, signal);
    } catch (error) {
      if (isLockTimeout(error)) return head;
      throw error;
    }
  }

  #step(head: ViewHead, rowsMax: number, signal: AbortSignal): Promise<ViewHead> {
    const { view, database } = this.#needs;
    const { layout } = head;
    const withAll = withColumns(layout, view);
    const undeclared = undeclaredIndex(layout, view);
    if (withAll !== layout) return this.#addColumns(head, withAll);
    if (undeclared !== undefined) return this.#drop(head, undeclared);
    if (layout.columns.some(({ isFilled }) => !isFilled))
      return database.write((session) => this.#fill(session, head, rowsMax));
    const missing = missingIndex(layout, view);
    return missing === undefined ? Promise.resolve(head) : this.#make(head, missing, signal);
  }

  #addColumns(head: ViewHead, layout: ViewLayout): Promise<ViewHead> {
    const added = layout.columns.slice(head.layout.columns.length);
    return this.#change(head, layout, [new RowsTable(head.number).addColumns(added)]);
  }

  #drop(head: ViewHead, index: LayoutIndex): Promise<ViewHead> {
    const table = new RowsTable(head.number);
    const layout = withoutIndex(head.layout, index.no, this.#needs.view);
    const dropped = head.layout.columns.filter((column) => !layout.columns.includes(column));
    const statements = [table.dropIndex(index)];
    if (dropped.length > 0) statements.push(table.dropColumns(dropped));
    return this.#change(head, layout, statements);
  }

  #change(head: ViewHead, layout: ViewLayout, statements: readonly string[]): Promise<ViewHead> {
    const { database, view, lease } = this.#needs;
    return database.write((session) =>
      session.transaction(async () => {
        const values = [layoutText(view, layout)];
        const [version] = await lease.update(session, SET_LAYOUT, values, 'version');
        for (const statement of statements) await session.execute(statement);
        return { ...head, layout, version: version as number };
      }, CHANGING),
    );
  }

  /** Fills the columns that are not filled, in the next rows. */
  async #fill(session: ViewSession, head: ViewHead, rowsMax: number): Promise<ViewHead> {
    const { view, limits, lease } = this.#needs;
    const { layout } = head;
    const table = new RowsTable(head.number);
    const walk = keysAfter(layout.filledTo);
    const values = [view.definition, rowsMax, STEP_BYTES_MAX, ...boundTexts(walk)];
    const found = await session.query(table.page([], walk), values);
    const columns = layout.columns.filter(({ isFilled }) => !isFilled);
    const last = found.at(-1);
    const next: ViewLayout =
      last === undefined
        ? {
            ...layout,
            columns: layout.columns.map((column) => ({ ...column, isFilled: true })),
            filledTo: null,
          }
        : { ...layout, filledTo: keyOfText(String(last[1])) };
    const entries = new RowEntryTexts(layout, view, limits);
    const rows = found.map(([, key, json, crc]) => checkedRow(key, json, crc));
    const texts = rows.map((row) => entries.of(row));
    const columnTexts = columns.map((column) => {
      const at = layout.columns.indexOf(column);
      return texts.map((row) => row[at]!);
    });
    const keys = rows.map(({ key }) => keyText(key));
    lease.held(
      await session.query(table.fill(columns), [
        lease.definition,
        lease.epoch,
        layoutText(view, next),
        keys,
        ...columnTexts,
      ]),
    );
    return { ...head, layout: next };
  }

  /** Makes an index. Readers go on meanwhile, and other views are written. */
  #make(head: ViewHead, index: ViewIndex, signal: AbortSignal): Promise<ViewHead> {
    const { database, view, lease, quota } = this.#needs;
    const columns = columnNumbers(head.layout, index)!;
    const layout = withIndex(head.layout, columns);
    const table = new RowsTable(head.number);
    return database.writeAlone(async (session) => {
      const totals = { ...head, indexCount: head.layout.indexes.length };
      await quota.reserve(indexBytes(head.rowCount), session, totals);
      const [long] = await session.execute(table.longEntry(columns), [ENTRY_BYTES_MAX]);
      if (long !== undefined)
        throw entryTooLong(keyOfText(String(long[0])), 'its key and the fields of an index');
      return session.transaction(async () => {
        await session.execute(table.createIndex(layout.indexes.at(-1)!));
        // The row is locked as late as possible, so that the lease can be renewed while the index is made.
        const values = [layoutText(view, layout)];
        const [version] = await lease.update(session, SET_LAYOUT, values, 'version');
        return { ...head, layout, version: version as number };
      }, CHANGING);
    }, signal);
  }
}
