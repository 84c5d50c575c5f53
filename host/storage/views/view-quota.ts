// ViewQuota bounds the size of all view files of a service together. Several writers share the limit, each with files of
// its own, so each measures all files again before it has used up a part of what was left.
import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { viewsFull } from '../view-walk/view-refusals.ts';
import { definitionOf } from './view-file.ts';

/** Upper bound of the bytes that a row and its index entries take beside their texts, split pages included. */
const ROW_BYTES = 512;
/** Bytes of an entry of an index, beside the texts in it, which are at most as long as the row. */
const ENTRY_BYTES = 64;
/** The part of what is left that is used before the files are measured again. */
const PART_USED = 4;
/** The most bytes that are used before the files are measured again. */
const USED_MAX = 64 * 1024 * 1024;

export class ViewQuota {
  readonly #folder: string;
  readonly #definition: string;
  readonly #bytesMax: number;
  readonly #pageCount: StatementSync;
  readonly #freeCount: StatementSync;
  readonly #pageBytes: number;
  /** The bytes that can be used before the files have to be measured. */
  #leftBytes = 0;

  /** `bytesMax` is the limit in bytes; 0 means no limit. Throws errors of SQLite. */
  constructor(database: DatabaseSync, folder: string, definition: string, bytesMax: number) {
    this.#folder = folder;
    this.#definition = definition;
    this.#bytesMax = bytesMax === 0 ? Infinity : bytesMax;
    this.#pageCount = database.prepare('PRAGMA page_count');
    this.#freeCount = database.prepare('PRAGMA freelist_count');
    this.#pageBytes = Number(database.prepare('PRAGMA page_size').get()?.['page_size']);
  }

  /**
   * Counts bytes that are about to be stored. Throws SVC_VIEWS_FULL if they do not fit, and errors of the file system.
   */
  reserve(bytes: number): void {
    if (bytes <= 0 || this.#bytesMax === Infinity) return;
    if (bytes > this.#leftBytes) {
      const stored = this.#measuredBytes();
      const left = this.#bytesMax - stored;
      if (bytes > left) throw viewsFull(this.#bytesMax, stored);
      this.#leftBytes = Math.max(bytes, Math.min(left / PART_USED, USED_MAX));
    }
    this.#leftBytes -= bytes;
  }

  /** The file's size is not what SQLite says: pages in the log are not in the file, and free pages can be used again. */
  #measuredBytes(): number {
    const pages =
      Number(this.#pageCount.get()?.['page_count']) -
      Number(this.#freeCount.get()?.['freelist_count']);
    let bytes = pages * this.#pageBytes;
    for (const name of readdirSync(this.#folder)) {
      const definition = definitionOf(name);
      if (definition === undefined || definition === this.#definition) continue;
      bytes += lstatSync(join(this.#folder, name), { throwIfNoEntry: false })?.size ?? 0;
    }
    return bytes;
  }
}

/** Returns an upper bound of the bytes that a row takes with the values of its columns. */
export function rowBytes(key: string, json: string, indexes: number): number {
  const keyBytes = Buffer.byteLength(key);
  // A value is in its column and in each index that has it, at most as often as there are indexes.
  return ROW_BYTES + (2 + indexes) * (keyBytes + ENTRY_BYTES) + 2 * Buffer.byteLength(json);
}

/** Returns about how many bytes an index over so many rows takes. */
export function indexBytes(rows: number): number {
  return rows * 2 * ENTRY_BYTES;
}
