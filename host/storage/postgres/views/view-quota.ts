// ViewQuota bounds the size of all rows of a service together. Several writers share the limit, each with tables of its own, so each
// measures all tables again before it has used up a part of what was left.
import { viewsFull } from '../../view-walk/view-refusals.ts';
import type { ViewSession } from './view-session.ts';
import { TABLE } from './view-head.ts';

/** Upper bound of the bytes that a row takes in its table and in the index of the keys beside its texts. */
const ROW_BYTES = 256;
/** Bytes of a column and of the entry of an index, beside the texts in them, which are at most as long as the row. */
const ENTRY_BYTES = 64;
/** The part of what is left that is used before the tables are measured again. */
const PART_USED = 4;
/** The most bytes that are used before the tables are measured again. */
const USED_MAX = 64 * 1024 * 1024;

/** The rows of a definition, as its head counts them. */
export interface RowTotals {
  readonly rowCount: number;
  readonly textBytes: number;
  /** How many indexes a row has entries in, beside that of the keys. */
  readonly indexCount: number;
}

export class ViewQuota {
  readonly #definition: string;
  readonly #bytesMax: number;
  /** The bytes that can be used before the tables have to be measured. */
  #leftBytes = 0;

  /** `bytesMax` is the limit in bytes; 0 means no limit. */
  constructor(definition: string, bytesMax: number) {
    this.#definition = definition;
    this.#bytesMax = bytesMax === 0 ? Infinity : bytesMax;
  }

  /** Counts bytes that are about to be stored. Rejects with SVC_VIEWS_FULL if they do not fit, and with DatabaseFailure. */
  async reserve(bytes: number, session: ViewSession, totals: RowTotals): Promise<void> {
    if (bytes <= 0 || this.#bytesMax === Infinity) return;
    if (bytes > this.#leftBytes) {
      const stored = await this.#measuredBytes(session, totals);
      const left = this.#bytesMax - stored;
      if (bytes > left) throw viewsFull(this.#bytesMax, stored);
      this.#leftBytes = Math.max(bytes, Math.min(left / PART_USED, USED_MAX));
    }
    this.#leftBytes -= bytes;
  }

  /** A table keeps the space of rows that were removed, and uses it again: it counts with what its rows may take, if that is less. */
  async #measuredBytes(session: ViewSession, totals: RowTotals): Promise<number> {
    const [row = []] = await session.query(
      `SELECT coalesce(sum(least(coalesce(pg_total_relation_size(${TABLE}), 0),
          CASE definition WHEN $1 THEN $2 ELSE 9007199254740991 END)), 0)::bigint
        FROM svc.view_definition`,
      [this.#definition, rowsBytes(totals)],
    );
    return Number(row[0]);
  }
}

/** Returns an upper bound of the bytes that rows take with the values of their columns. */
export function rowsBytes({ rowCount, textBytes, indexCount }: RowTotals): number {
  // A value is in its column and in each index that has it, at most as often as there are indexes.
  const copies = 2 + 2 * indexCount;
  return rowCount * (ROW_BYTES + copies * ENTRY_BYTES) + copies * textBytes;
}

/** Returns about how many bytes an index over so many rows takes. */
export function indexBytes(rows: number): number {
  return rows * 2 * ENTRY_BYTES;
}
