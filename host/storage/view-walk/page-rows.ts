// PageRows gathers the rows of a page, until one more would exceed its limits.
import type { ViewRow } from '../../engine/needs/views.ts';

export class PageRows {
  readonly rows: ViewRow[] = [];
  readonly #rowsMax: number;
  #leftBytes: number;

  constructor(rowsMax: number, bytesMax: number) {
    this.#rowsMax = rowsMax;
    this.#leftBytes = bytesMax;
  }

  /** Adds the next row. Returns false if the page is full without it; the first row always fits. */
  add(row: ViewRow): boolean {
    if (this.rows.length === this.#rowsMax) return false;
    this.#leftBytes -= Buffer.byteLength(row.key) + Buffer.byteLength(row.json);
    if (this.#leftBytes < 0 && this.rows.length > 0) return false;
    this.rows.push(row);
    return true;
  }
}
