// The rows of views, as guests fold them and handlers find them.
import type { EntityEvent } from './entity.ts';

/** A row under its key. */
export interface RowState {
  readonly key: string;
  /** JSON text; undefined: there is no row of this key. */
  readonly json: string | undefined;
}

/** An event, and the rows into which it is folded. */
export interface KeyedEvent {
  readonly event: EntityEvent;
  /** Indices of rows in the list that is given with the event, each once. */
  readonly rows: readonly number[];
}

/** A query of a view, as a handler makes it. */
export interface RowQuery {
  readonly view: string;
  /**
   * Name of the query; or KEY_QUERY for the row of one key; or COUNT_PREFIX and a query's name for the number of its rows. No
   * declared query has such a name, because names have no spaces.
   */
  readonly query: string;
  /** The query's parameters, JSON text. */
  readonly input: string;
  /** The most rows of the page. */
  readonly limit: number;
  /** From the page before; undefined: the first page. */
  readonly cursor: string | undefined;
}

/** Finds the row of a key, which is given as `{"key":"…"}`. */
export const KEY_QUERY = 'by key';
/** Counts the rows of a query: the page has one row, `{"count":…,"hasMore":…}`. */
export const COUNT_PREFIX = 'count ';

/** Rows that a query of a view has found. */
export interface RowPage {
  /** JSON texts, in the order of the query. */
  readonly rows: readonly string[];
  /** Asks for the next page; undefined: this is the last one. */
  readonly cursor: string | undefined;
  /**
   * Milliseconds since 1970-01-01T00:00:00Z, set while a new definition of the view is being built, when the rows are those
   * of the previous definition, and while the view has stopped: no events are folded since this time. Undefined: the rows are
   * current.
   */
  readonly asOfMs: number | undefined;
}

/** Memory that the threads of a service share about one view (host/views/shared-view.ts). */
export interface SharedViewMemory {
  readonly position: SharedArrayBuffer;
  readonly state: SharedArrayBuffer;
  readonly former: SharedArrayBuffer;
}

/** The memory of each view, by its id. */
export type SharedViews = Readonly<Record<string, SharedViewMemory>>;
