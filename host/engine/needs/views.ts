// ViewStore is what the engine and the projector need of the storage of views. The rows of a view belong to
// its definition, which a hash names: what folds events into rows, and the type of the rows. Indexes are not part of
// the definition. A definition has one writer at a time, and any number of readers.
//
// Rows are derived from the journal: a store may lose them, and then they are folded again.
import type { ColumnType, ViewQueryPlan } from '@svc/contract';
import type { Awaitable } from '@svc/model/call';
import type { EntityRef } from '@svc/model/entity';
import type { Position } from './feed.ts';

/** A field of the rows that an index has. */
export interface ViewColumn {
  readonly field: string;
  readonly type: ColumnType;
}

/** The fields of an index, in order. The row's key follows them. */
export type ViewIndex = readonly ViewColumn[];

export interface StoredView {
  /** Id of the view. */
  readonly id: string;
  /** Identifies the type of the rows: those of two definitions with the same one can be decoded alike. */
  readonly rowType: string;
  /** Hash of the definition: 16 to 64 lower-case hexadecimal digits. It names the rows. */
  readonly definition: string;
  /** The indexes that the view declares, in the order in which the plans of its queries count them. */
  readonly indexes: readonly ViewIndex[];
}

/** The position in the journal up to which events are folded into the rows. */
export interface FoldedTo {
  readonly position: Position;
  /** The text that `Feed.mark` gives for the position: in another journal it is another one. */
  readonly mark: string | undefined;
  /**
   * When the latest of these events was recorded, in milliseconds since 1970-01-01T00:00:00Z; missing: no event is folded.
   */
  readonly latestMs?: number | undefined;
}

/** How far another node may have brought the rows of a definition. */
export interface RowsProgress {
  /** A text as `ViewWriter.revision`; an empty one: there are no rows that can be used. */
  readonly revision: string;
  readonly foldedTo: FoldedTo | undefined;
}

/** An event that is left out of the rows of a definition, because somebody has decided so. */
export interface SkippedEvent {
  readonly entity: EntityRef;
  /** Number of the event among the records of its entity, from 1. */
  readonly seq: number;
  /** Why, for people who read it later. */
  readonly reason: string;
  /** When it was skipped, in milliseconds since 1970-01-01T00:00:00Z. */
  readonly timeMs: number;
}

export interface ViewRow {
  readonly key: string;
  /** JSON text of the row. */
  readonly json: string;
}

export interface RowChange {
  readonly key: string;
  /** JSON text of the row; undefined removes it. */
  readonly json: string | undefined;
}

/** A query with its parameters. */
export interface ViewQuery {
  readonly plan: ViewQueryPlan;
  /** Values by the names of parameters, in the JSON form of the fields that they are compared with. Missing: null. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface ViewPage {
  readonly rows: readonly ViewRow[];
  /** Opaque text with which the next page is asked for; undefined: there are no more rows. */
  readonly cursor: string | undefined;
}

export interface RowCount {
  /** The number of rows, or COUNT_MAX if there are more. */
  readonly count: number;
  readonly hasMore: boolean;
}

/** The most rows that `count` counts. */
export const COUNT_MAX = 10_000;
/** The most events that a definition skips. */
export const SKIPS_MAX = 1_000;
/** The rows of a page if the caller does not say. */
export const PAGE_ROWS_DEFAULT = 100;

/**
 * - `missing`: there are no rows, or they cannot be used; `reason` says why, if there is a file. A writer makes it new.
 * - `building`: events are being folded, and no query is answered yet.
 * - `live`: queries are answered.
 */
export type ViewStatus =
  | { readonly state: 'missing'; readonly reason: string | undefined }
  | { readonly state: 'building' | 'live'; readonly foldedTo: FoldedTo | undefined };

/**
 * Reads the rows of one definition. Making one costs nothing, and there need not be any rows yet. Rows that a writer has
 * made new are read within 100 ms, and by `status` at once. Beside the errors that they name, all methods but `status` and `close` throw, or reject with, SVC_VIEW_REBUILDING while there are no rows, or
 * while the index of a query is not ready, SVC_VIEW_CORRUPT if rows are damaged, SVC_DATA_UNUSABLE, and SVC_JOURNAL_UNAVAILABLE
 * from a database.
 */
export interface ViewReader {
  /** Returns whether there are rows, and how far they are. Never throws. */
  status(): Awaitable<ViewStatus>;
  /** Returns the row of a key; undefined if there is none. Throws SVC_FIND_INVALID for a key that is too long. */
  get(key: string): Awaitable<ViewRow | undefined>;
  /**
   * Returns a page of a query's rows, in the order of the walk. Between pages rows may come and go: no row is returned
   * twice, and none that stayed where it was is left out. A cursor holds for the query and the parameters that it was
   * given for. `limit`: the most rows, from 1 to `ViewLimits.pageRowsMax`. Throws SVC_FIND_INVALID, SVC_CURSOR_INVALID.
   */
  find(query: ViewQuery, limit: number, cursor?: string): Awaitable<ViewPage>;
  /** Counts a query's rows, up to COUNT_MAX. Throws SVC_FIND_INVALID. */
  count(query: ViewQuery): Awaitable<RowCount>;
  close(): void;
}

/**
 * The one writer of a definition. After a method that has thrown, nothing of what it should have stored is stored, or the writer stores
 * nothing more, and the next one finds what is stored. All of them may throw SVC_VIEW_CORRUPT, SVC_DATA_UNUSABLE and SVC_DISK_FULL;
 * from a database SVC_JOURNAL_UNAVAILABLE, and SVC_VIEW_IN_USE once another writer has taken over.
 */
export interface ViewWriter {
  /** Why rows that were there could not be used, so that the writer begins without rows; undefined: it was not so. */
  readonly discarded: string | undefined;
  readonly isLive: boolean;
  /** The position up to which events are folded; undefined: none are. */
  readonly foldedTo: FoldedTo | undefined;
  readonly rowCount: number;
  /** The events that are left out, in the order in which they were skipped. */
  readonly skips: readonly SkippedEvent[];
  /** A text that is another one after an event was skipped, and when other rows are read. Absent: no other node writes them. */
  readonly revision?: string | undefined;
  /** Returns the JSON texts of the rows of these keys; undefined where there is no row. */
  rows(keys: readonly string[]): Awaitable<readonly (string | undefined)[]>;
  /**
   * Stores changes, each key once, together with the position up to which events are folded then. Throws SVC_VIEWS_FULL, and
   * SVC_VIEW_ROW_INVALID if a row or key is too large, an indexed field has a value of another type, or the store cannot hold the row.
   */
  put(changes: readonly RowChange[], foldedTo: FoldedTo): Awaitable<void>;
  /**
   * Does a part of the work by which the indexes become those that the view declares: fills the columns of at most
   * `rowsMax` rows, or makes or drops one index. Returns whether all is done. It may be called after any `put`, and goes
   * on where another writer has stopped. Throws SVC_VIEWS_FULL, and SVC_VIEW_ROW_INVALID as `put` does.
   */
  prepareIndexes(rowsMax: number): Awaitable<boolean>;
  /** Makes the rows readable, once they are safely stored. All indexes have to be ready. */
  goLive(): Awaitable<void>;
  /** Removes all rows: `foldedTo` is undefined then, and the writer is not live. Skipped events stay skipped. */
  clear(): Awaitable<void>;
  /** Adds to `skips`. There may be SKIPS_MAX of them. */
  skip(event: SkippedEvent): Awaitable<void>;
  close(): void;
}

/** The rows of one definition, as the store lists them. */
export interface KeptView {
  readonly definition: string;
  readonly bytes: number;
  /** When the definition was last used, in milliseconds since 1970-01-01T00:00:00Z. */
  readonly usedMs: number;
}

/** Rows of another definition of a view. */
export interface FormerRows {
  readonly definition: string;
  readonly foldedTo: FoldedTo;
}

/** Where its methods throw SVC_DATA_UNUSABLE, those of a store in a database throw SVC_JOURNAL_UNAVAILABLE. */
export interface ViewStore {
  /** Returns how far the rows of a definition are. Absent: no other node writes them. Rejects with SVC_JOURNAL_UNAVAILABLE. */
  progress?(view: StoredView): Promise<RowsProgress>;
  /** Returns a reader, which the caller closes. */
  reader(view: StoredView): ViewReader;
  /**
   * Lists the rows that other definitions of the view have left, if they are live and of the same type. Rows that cannot be
   * used are left out. Throws SVC_DATA_UNUSABLE.
   */
  former(view: StoredView): Awaitable<readonly FormerRows[]>;
  /**
   * Opens the writer of a definition. Rows that cannot be used are deleted first. Throws SVC_VIEW_IN_USE while there is
   * another writer, SVC_DATA_UNUSABLE and SVC_DISK_FULL. `takesOver`: takes the rows from a writer of another node, which stores
   * nothing more then; a store that no other node writes ignores it.
   */
  openWriter(view: StoredView, takesOver?: boolean): Awaitable<ViewWriter>;
  /** Returns how many bytes are free where rows are stored. Throws SVC_DATA_UNUSABLE. */
  freeBytes(): Awaitable<number>;
  /** Lists what is stored, by definition. Throws SVC_DATA_UNUSABLE. */
  list(): Awaitable<readonly KeptView[]>;
  /**
   * Deletes definitions that were not used for `ViewLimits.keptMs` at the time `nowMs`, and returns them. Those that are
   * `inUse` count as used now; those that have a writer stay. Throws SVC_DATA_UNUSABLE.
   */
  removeUnused(inUse: ReadonlySet<string>, nowMs: number): Awaitable<readonly string[]>;
  /** Releases what the store holds, after its readers and writers are closed, and what closed writers have stored is safe. */
  close(): Awaitable<void>;
}
