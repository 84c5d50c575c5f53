// ViewMeta is the table `meta` of a view's file: what the file is of, how far it is, which columns and indexes have
// been added to its rows, and which events are left out of them. Each value is JSON with a checksum.
//
// Numbers of columns and indexes are given once in the life of a file. So a statement that a reader has prepared means
// what it meant, or fails, whatever the writer has done to the indexes.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import type { FoldedTo, SkippedEvent, StoredView } from '../../engine/needs/views.ts';
import type { FieldColumn } from '../view-walk/row-columns.ts';

export const STATE_ROW = 'state';
export const LAYOUT_ROW = 'layout';
export const SKIPS_ROW = 'skips';
const ORIGIN_ROW = 'origin';

export interface ViewState {
  readonly definition: string;
  readonly isLive: boolean;
  readonly rowCount: number;
  /** Undefined: no events are folded. */
  readonly foldedTo: FoldedTo | undefined;
}

/** The view that the rows belong to, and their type. They never change. */
export type ViewOrigin = Pick<StoredView, 'id' | 'rowType'>;

export interface LayoutColumn extends FieldColumn {
  readonly no: number;
  /** Whether all rows have their values. Until then, the rows up to `Layout.filledTo` have them, and rows written since. */
  readonly isFilled: boolean;
}

export interface LayoutIndex {
  readonly no: number;
  /** Numbers of columns. */
  readonly columns: readonly number[];
}

/** The columns that the writer fills, and the indexes that exist. Columns that no index needs any more are not here. */
export interface Layout {
  readonly columns: readonly LayoutColumn[];
  readonly indexes: readonly LayoutIndex[];
  /** The number that the next column or index is given. */
  readonly nextNo: number;
  /** The last row, by its id, for which columns that are not filled have values. */
  readonly filledTo: number;
}

const NO_LAYOUT: Layout = { columns: [], indexes: [], nextNo: 0, filledTo: 0 };

export class ViewMeta {
  readonly #find: StatementSync;
  readonly #keep: StatementSync;

  /** Throws errors of SQLite. */
  constructor(database: DatabaseSync) {
    this.#find = database.prepare('SELECT value, crc FROM meta WHERE name = ?');
    this.#find.setReturnArrays(true);
    this.#keep = database.prepare(
      'INSERT OR REPLACE INTO meta (name, value, crc) VALUES (?, ?, ?)',
    );
  }

  /** Writes the values of a file without rows. */
  create({ id, rowType, definition }: StoredView, skips: readonly SkippedEvent[]): void {
    const origin: ViewOrigin = { id, rowType };
    this.#write(ORIGIN_ROW, origin);
    this.keepState({ definition, isLive: false, rowCount: 0, foldedTo: undefined });
    this.keepLayout(NO_LAYOUT);
    this.keepSkips(skips);
  }

  /** Undefined: it is missing or damaged. Throws errors of SQLite. */
  state(): ViewState | undefined {
    return this.#read(STATE_ROW) as ViewState | undefined;
  }

  /** Undefined: it is missing or damaged. Throws errors of SQLite. */
  origin(): ViewOrigin | undefined {
    return this.#read(ORIGIN_ROW) as ViewOrigin | undefined;
  }

  /** Undefined: it is missing or damaged. Throws errors of SQLite. */
  layout(): Layout | undefined {
    return this.#read(LAYOUT_ROW) as Layout | undefined;
  }

  /** Undefined: they are missing or damaged. Throws errors of SQLite. */
  skips(): readonly SkippedEvent[] | undefined {
    return this.#read(SKIPS_ROW) as readonly SkippedEvent[] | undefined;
  }

  keepState(state: ViewState): void {
    this.#write(STATE_ROW, state);
  }

  keepLayout(layout: Layout): void {
    this.#write(LAYOUT_ROW, layout);
  }

  keepSkips(skips: readonly SkippedEvent[]): void {
    this.#write(SKIPS_ROW, skips);
  }

  #read(name: string): unknown {
    const found = this.#find.get(name) as readonly [unknown, unknown] | undefined;
    if (found === undefined) return undefined;
    const [value, crc] = found;
    // Whatever has the right checksum was written by this class, in this format.
    return typeof value === 'string' && crc === checksum(name, value)
      ? JSON.parse(value)
      : undefined;
  }

  #write(name: string, content: unknown): void {
    const value = JSON.stringify(content);
    this.#keep.run(name, value, checksum(name, value));
  }
}

function checksum(name: string, value: string): number {
  return crc32(value, crc32(`${name}\n`));
}
