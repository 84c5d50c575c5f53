// FileViewReader answers queries of one definition from its file, through a connection that only reads. It opens the file
// with the first query, and again after a failure and after a writer has replaced the file.
import assert from 'node:assert';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { SvcError } from '@svc/kit/svc-error';
import { sqliteCode } from '@svc/kit/sqlite-code';
import {
  COUNT_MAX,
  type RowCount,
  type SkippedEvent,
  type StoredView,
  type ViewPage,
  type ViewQuery,
  type ViewReader,
  type ViewRow,
  type ViewStatus,
} from '../../engine/needs/views.ts';
import type { ViewLimits } from '@svc/model/view-limits';
import { SQLITE_ERROR, reasonOf } from '../sqlite/sqlite-failure.ts';
import type { ColumnValue } from '../view-walk/column-value.ts';
import { PageRows } from '../view-walk/page-rows.ts';
import { checkKey, checkLimit, positionOfRow } from '../view-walk/row-columns.ts';
import { cursorAt, positionOf } from '../view-walk/view-cursor.ts';
import { viewRebuilding } from '../view-walk/view-refusals.ts';
import { type Walk, after, walkOf } from '../view-walk/walk.ts';
import { type StoredRow, checkedRow } from './row-checksum.ts';
import { viewDamaged, viewFailure } from './view-failure.ts';
import { fileIdentity, openForReading, viewPath } from './view-file.ts';
import { columnNumbers } from './view-indexes.ts';
import { ViewMeta } from './view-meta.ts';
import {
  KEY_INDEX,
  KEY_ROW_SQL,
  type WalkPath,
  columnName,
  countSql,
  indexName,
  pageSql,
} from './view-sql.ts';

/** How long a reader may read a file that was replaced, in milliseconds. */
const REPLACED_MS = 100;

interface OpenFile {
  readonly database: DatabaseSync;
  readonly meta: ViewMeta;
  /** The result of `fileIdentity` when the file was opened. */
  readonly identity: string;
  /** Indexed by their SQL. There are a few for each query. */
  readonly statements: Map<string, StatementSync>;
  /** Indexed by the number of the declared index. */
  readonly paths: Map<number | 'key', WalkPath>;
  /** Once a file is live, it stays so. */
  isLive: boolean;
}

export class FileViewReader implements ViewReader {
  readonly #view: StoredView;
  readonly #limits: ViewLimits;
  readonly #path: string;
  #file: OpenFile | undefined = undefined;
  #checkedAtMs = 0;

  constructor(folder: string, view: StoredView, limits: ViewLimits) {
    this.#view = view;
    this.#limits = limits;
    this.#path = viewPath(folder, view.definition);
  }

  status(): ViewStatus {
    try {
      this.#checkedAtMs = 0;
      const file = this.#current();
      if (file === undefined) return { state: 'missing', reason: undefined };
      const state = file.meta.state();
      if (state === undefined) throw viewDamaged(this.#path, 'its state is damaged');
      return { state: state.isLive ? 'live' : 'building', foldedTo: state.foldedTo };
    } catch (error) {
      this.close();
      return { state: 'missing', reason: reasonOf(error) };
    }
  }

  /** Returns the events that are left out of the rows; none if there is no file that can be read. */
  skips(): readonly SkippedEvent[] {
    try {
      return this.#current()?.meta.skips() ?? [];
    } catch {
      this.close();
      return [];
    }
  }

  get(key: string): ViewRow | undefined {
    checkKey(key, this.#limits);
    return this.#read((file) => {
      const found = statement(file, KEY_ROW_SQL).get(key) as StoredRow | undefined;
      return found && checkedRow(found, this.#path);
    });
  }

  find(query: ViewQuery, limit: number, cursor?: string): ViewPage {
    checkLimit(limit, this.#limits);
    const { definition } = this.#view;
    const walk = walkOf(this.#view, query);
    const from = cursor === undefined ? walk : after(walk, positionOf(definition, walk, cursor));
    return this.#read((file) => {
      const path = this.#walkPath(file, query);
      if (walk.isEmpty) return { rows: [], cursor: undefined };
      const page = new PageRows(limit, this.#limits.pageBytesMax);
      const found = statement(file, pageSql(path, from)).iterate(...boundTo(from), limit + 1);
      for (const stored of found) {
        if (page.add(checkedRow(stored as unknown as StoredRow, this.#path))) continue;
        const open = walk.columns.slice(walk.equals.length);
        const position = positionOfRow(page.rows.at(-1), open, this.#limits);
        return { rows: page.rows, cursor: cursorAt(definition, walk, position) };
      }
      return { rows: page.rows, cursor: undefined };
    });
  }

  count(query: ViewQuery): RowCount {
    const walk = walkOf(this.#view, query);
    return this.#read((file) => {
      const path = this.#walkPath(file, query);
      if (walk.isEmpty) return { count: 0, hasMore: false };
      const found = statement(file, countSql(path, walk)).get(...boundTo(walk), COUNT_MAX + 1);
      const [count] = found as unknown as readonly [number];
      return { count: Math.min(count, COUNT_MAX), hasMore: count > COUNT_MAX };
    });
  }

  close(): void {
    try {
      this.#file?.database.close();
    } catch {
      // The connection has written nothing that could be lost.
    }
    this.#file = undefined;
  }

  /** Runs `work` on the file. A statement that no longer fits the file, because an index was dropped, is made again. */
  #read<T>(work: (file: OpenFile) => T): T {
    try {
      try {
        return work(this.#liveFile());
      } catch (error) {
        if (sqliteCode(error) !== SQLITE_ERROR) throw error;
        this.close();
        return work(this.#liveFile());
      }
    } catch (error) {
      if (!(error instanceof SvcError)) this.close();
      throw viewFailure(error, 'read', this.#path);
    }
  }

  #liveFile(): OpenFile {
    const file = this.#current();
    if (file === undefined) throw viewRebuilding('its rows are not built yet');
    if (!file.isLive) {
      const state = file.meta.state();
      if (state === undefined) throw viewDamaged(this.#path, 'its state is damaged');
      if (!state.isLive) throw viewRebuilding('its rows are being built');
      file.isLive = true;
    }
    return file;
  }

  /** Returns the file that has the path now; undefined if there is none. */
  #current(): OpenFile | undefined {
    const nowMs = performance.now();
    if (this.#file !== undefined && nowMs - this.#checkedAtMs < REPLACED_MS) return this.#file;
    const identity = fileIdentity(this.#path);
    if (this.#file?.identity !== identity) this.close();
    if (identity !== undefined) this.#file ??= this.#opened(identity);
    this.#checkedAtMs = nowMs;
    return this.#file;
  }

  #opened(identity: string): OpenFile {
    const database = openForReading(this.#path, this.#view.definition);
    return {
      database,
      meta: new ViewMeta(database),
      identity,
      statements: new Map(),
      paths: new Map(),
      isLive: false,
    };
  }

  /** Throws SVC_VIEW_REBUILDING if the file does not have the index of the query. */
  #walkPath(file: OpenFile, { plan: { index } }: ViewQuery): WalkPath {
    if (index === 'key') return { index: KEY_INDEX, columns: ['key'] };
    const known = file.paths.get(index);
    if (known !== undefined) return known;
    const layout = file.meta.layout();
    if (layout === undefined) throw viewDamaged(this.#path, 'its layout is damaged');
    const numbers = columnNumbers(layout, this.#view.indexes[index]!);
    const made = layout.indexes.find(({ columns }) => columns.join() === numbers?.join());
    if (made === undefined) throw viewRebuilding('the index of this query is being made');
    const path = { index: indexName(made.no), columns: [...made.columns.map(columnName), 'key'] };
    file.paths.set(index, path);
    return path;
  }
}

/** Returns the values of a statement's parameters, in the order of the columns. */
function boundTo({ equals, lower, upper }: Walk): readonly ColumnValue[] {
  return [...equals, ...(lower?.values ?? []), ...(upper?.values ?? [])];
}

/** Returns the prepared statement. It is one walk of an index, whatever SQLite knows of the rows. */
function statement({ database, statements }: OpenFile, sql: string): StatementSync {
  const known = statements.get(sql);
  if (known !== undefined) return known;
  const prepared = database.prepare(sql);
  prepared.setReturnArrays(true);
  const steps = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all();
  for (const { detail } of steps)
    assert(PLANNED.test(String(detail)), `a query is not one walk of an index: ${String(detail)}`);
  statements.set(sql, prepared);
  return prepared;
}

/** A walk of an index; or of the walk that a count counts. */
const PLANNED =
  /^(?:(?:SEARCH|SCAN) row USING (?:COVERING )?INDEX |CO-ROUTINE \(subquery-\d+\)$|SCAN \(subquery-\d+\)$)/;
