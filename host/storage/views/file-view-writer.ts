// FileViewWriter is the writer of a view's file. It holds the lock of the definition while it is open.
import assert from 'node:assert';
import { existsSync, utimesSync } from 'node:fs';
import { dirname } from 'node:path';
import type { StatementSync } from 'node:sqlite';
import {
  type FoldedTo,
  type RowChange,
  SKIPS_MAX,
  type SkippedEvent,
  type StoredView,
  type ViewWriter,
} from '../../engine/needs/views.ts';
import type { ViewLimits } from '@svc/model/view-limits';
import { LogCheckpoint } from '../sqlite/log-checkpoint.ts';
import { reasonOf } from '../sqlite/sqlite-failure.ts';
import type { ColumnValue } from '../view-walk/column-value.ts';
import { checkSizes, valuesOf } from '../view-walk/row-columns.ts';
import { type StoredRow, checkedRow, rowChecksum } from './row-checksum.ts';
import { isUnusable, viewFailure } from './view-failure.ts';
import {
  LOCK_WAIT_MS,
  makeViewFile,
  makeViewsFolder,
  openForWriting,
  placeInterruptedFile,
  placeViewFile,
  viewPath,
} from './view-file.ts';
import { type IndexedFile, ViewIndexes } from './view-indexes.ts';
import { ViewLock } from './view-lock.ts';
import { ViewMeta, type ViewState } from './view-meta.ts';
import { ViewQuota, rowBytes } from './view-quota.ts';
import { KEY_ROW_SQL, REMOVE_SQL, putSql } from './view-sql.ts';
import { inTransaction } from './view-transaction.ts';

/** A row that is about to be written, or a key whose row is removed. */
interface CheckedChange {
  readonly key: string;
  readonly json: string | undefined;
  readonly values: readonly ColumnValue[];
}

interface OpenFile extends IndexedFile {
  readonly indexes: ViewIndexes;
  readonly log: LogCheckpoint;
  readonly find: StatementSync;
  readonly remove: StatementSync;
  /** The state that is stored. */
  state: ViewState;
  skips: readonly SkippedEvent[];
  /** The id that the next new row is given. */
  nextId: number;
}

export class FileViewWriter implements ViewWriter {
  readonly discarded: string | undefined;
  readonly #path: string;
  readonly #view: StoredView;
  readonly #limits: ViewLimits;
  readonly #lock: ViewLock;
  #file: OpenFile;
  #isClosed = false;

  /** Throws as `ViewStore.openWriter` does. */
  constructor(folder: string, view: StoredView, limits: ViewLimits) {
    this.#view = view;
    this.#limits = limits;
    this.#path = viewPath(folder, view.definition);
    this.#guarded('opened', () => makeViewsFolder(folder));
    this.#lock = ViewLock.take(this.#path, view.definition);
    try {
      [this.#file, this.discarded] = this.#guarded('opened', () => this.#openOrMake());
    } catch (error) {
      this.#lock.release();
      throw error;
    }
  }

  get isLive(): boolean {
    return this.#file.state.isLive;
  }

  get foldedTo(): FoldedTo | undefined {
    return this.#file.state.foldedTo;
  }

  get rowCount(): number {
    return this.#file.state.rowCount;
  }

  get skips(): readonly SkippedEvent[] {
    return this.#file.skips;
  }

  rows(keys: readonly string[]): readonly (string | undefined)[] {
    return this.#guarded('read', () =>
      keys.map((key) => {
        const found = this.#file.find.get(key) as StoredRow | undefined;
        return found && checkedRow(found, this.#path).json;
      }),
    );
  }

  put(changes: readonly RowChange[], foldedTo: FoldedTo): void {
    assert(!this.#isClosed, 'the writer is closed');
    const checked = changes.map((change) => this.#checked(change));
    // Rows that are beside each other in the index of the keys are written one after the other.
    if (checked.length > 1) checked.sort(byKey);
    const file = this.#file;
    this.#guarded('written', () => {
      const indexCount = file.indexes.count;
      file.quota.reserve(
        checked.reduce(
          (sum, { key, json }) => sum + (json === undefined ? 0 : rowBytes(key, json, indexCount)),
          0,
        ),
      );
      file.state = inTransaction(file.database, () => {
        const rowCount = file.state.rowCount + this.#write(checked);
        const state = { ...file.state, rowCount, foldedTo };
        file.meta.keepState(state);
        return state;
      });
    });
    file.log.keepShort();
  }

  prepareIndexes(rowsMax: number): boolean {
    const areReady = this.#guarded('written', () =>
      this.#file.indexes.step(rowsMax, this.rowCount),
    );
    this.#file.log.keepShort();
    return areReady;
  }

  goLive(): void {
    const file = this.#file;
    assert(file.indexes.areReady, 'an index is not ready');
    this.#guarded('written', () => {
      // The rows are on disk before the file says that they can be read.
      file.database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      const state = { ...file.state, isLive: true };
      file.meta.keepState(state);
      file.state = state;
    });
  }

  clear(): void {
    this.#guarded('made new', () => {
      makeViewFile(this.#path, this.#view, this.skips);
      if (this.#file.database.isOpen) this.#file.database.close();
      placeViewFile(this.#path);
      this.#file = this.#open();
    });
  }

  skip(event: SkippedEvent): void {
    const file = this.#file;
    assert(file.skips.length < SKIPS_MAX, 'too many events are skipped');
    this.#guarded('written', () => {
      const skips = [...file.skips, event];
      file.meta.keepSkips(skips);
      file.skips = skips;
    });
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    try {
      // Readers that stay would keep the last rows in the log.
      this.#file.database.exec('PRAGMA wal_checkpoint(PASSIVE)');
      this.#file.database.close();
      const now = new Date();
      utimesSync(this.#path, now, now);
    } catch {
      // What was stored is stored, and a file without a new time is deleted earlier at worst.
    }
    this.#lock.release();
  }

  /** Returns the file, and why one that was there was deleted. */
  #openOrMake(): readonly [file: OpenFile, discarded: string | undefined] {
    let discarded: string | undefined;
    placeInterruptedFile(this.#path, this.#view.definition);
    if (existsSync(this.#path))
      try {
        return [this.#open(), undefined];
      } catch (error) {
        if (!isUnusable(error)) throw error;
        discarded = reasonOf(error);
      }
    makeViewFile(this.#path, this.#view, []);
    placeViewFile(this.#path);
    return [this.#open(), discarded];
  }

  #open(): OpenFile {
    const { definition } = this.#view;
    const database = openForWriting(this.#path, definition);
    try {
      const meta = new ViewMeta(database);
      const state = meta.state()!;
      const quota = new ViewQuota(database, dirname(this.#path), definition, this.#limits.bytesMax);
      const file = { path: this.#path, database, meta, quota };
      const indexes = new ViewIndexes(file, this.#view, this.#limits, state.rowCount);
      const find = database.prepare(KEY_ROW_SQL);
      find.setReturnArrays(true);
      const remove = database.prepare(REMOVE_SQL);
      const log = new LogCheckpoint(database, LOCK_WAIT_MS);
      const last = database.prepare('SELECT max(id) AS id FROM row').get()?.['id'];
      return {
        ...file,
        indexes,
        log,
        find,
        remove,
        state,
        skips: meta.skips()!,
        nextId: Number(last ?? 0) + 1,
      };
    } catch (error) {
      database.close();
      throw error;
    }
  }

  #checked({ key, json }: RowChange): CheckedChange {
    checkSizes(key, json, this.#limits);
    if (json === undefined) return { key, json, values: [] };
    const values = valuesOf({ key, json }, this.#file.indexes.columns, this.#limits);
    return { key, json, values };
  }

  /** Writes changes within a transaction; returns by how much the number of rows has changed. */
  #write(changes: readonly CheckedChange[]): number {
    const file = this.#file;
    const put = file.database.prepare(putSql(file.indexes.columns));
    let added = 0;
    for (const { key, json, values } of changes) {
      if (json === undefined) {
        added -= Number(file.remove.run(key).changes);
        continue;
      }
      const { lastInsertRowid } = put.run(
        file.nextId,
        key,
        json,
        rowChecksum(key, json),
        ...values,
      );
      // A row that was there keeps its id.
      if (lastInsertRowid !== file.nextId) continue;
      file.nextId++;
      added++;
    }
    return added;
  }

  /** Throws an SvcError for an error of SQLite or the file system. */
  #guarded<T>(doing: string, work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw viewFailure(error, doing, this.#path);
    }
  }
}

/** Compares by UTF-16 units, which is the order of the index but for rare characters, and costs less. */
function byKey(a: CheckedChange, b: CheckedChange): number {
  return a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
}
