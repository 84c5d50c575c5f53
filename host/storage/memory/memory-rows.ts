// MemoryRows: the rows of one definition in memory, and the indexes over them.
//
// Invariant: each index has one entry for each row, in order. The walk of the keys is the index of no fields.
import type { FoldedTo, SkippedEvent, StoredView, ViewIndex } from '../../engine/needs/views.ts';
import { type ColumnValue, compareLists } from '../view-walk/column-value.ts';
import type { ViewLimits } from '@svc/model/view-limits';
import { type FieldColumn, valuesOf } from '../view-walk/row-columns.ts';

/** Bytes that a row takes beside its texts, roughly. */
const ROW_BYTES = 200;

/** Values of an index's fields, and the row's key. */
export type Entry = readonly ColumnValue[];

export class MemoryIndex {
  readonly #fields: readonly FieldColumn[];
  readonly #limits: ViewLimits;
  #entries: Entry[] = [];

  constructor(index: ViewIndex, limits: ViewLimits) {
    this.#fields = index.map(({ field, type }) => ({ field, kind: type.kind }));
    this.#limits = limits;
  }

  get entries(): readonly Entry[] {
    return this.#entries;
  }

  /** Throws SVC_VIEW_ROW_INVALID if a row has a value that no index may have. */
  fill(rows: ReadonlyMap<string, string>): void {
    const entries = Array.from(rows, ([key, json]) => this.#entryOf(key, json));
    this.#entries = entries.toSorted(compareLists);
  }

  add(key: string, json: string): void {
    const entry = this.#entryOf(key, json);
    this.#entries.splice(this.offsetOf(entry, true), 0, entry);
  }

  remove(key: string, json: string): void {
    this.#entries.splice(this.offsetOf(this.#entryOf(key, json), true), 1);
  }

  /** Returns how many entries are before the first values of an entry; with `isBefore` false, not after them. */
  offsetOf(values: Entry, isBefore: boolean): number {
    let [low, high] = [0, this.#entries.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const order = compareLists(this.#entries[middle]!, values);
      if (order < 0 || (order === 0 && !isBefore)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #entryOf(key: string, json: string): Entry {
    return [...valuesOf({ key, json }, this.#fields, this.#limits), key];
  }
}

export class MemoryRows {
  readonly origin: Pick<StoredView, 'id' | 'rowType'>;
  readonly #limits: ViewLimits;
  readonly #rows = new Map<string, string>();
  /** Indexed by `nameOf` an index. */
  readonly #indexes = new Map<string, MemoryIndex>();
  #bytes = 0;
  hasWriter = false;
  isLive = false;
  foldedTo: FoldedTo | undefined = undefined;
  skips: readonly SkippedEvent[] = [];
  usedMs = Date.now();

  constructor(origin: Pick<StoredView, 'id' | 'rowType'>, limits: ViewLimits) {
    this.origin = origin;
    this.#limits = limits;
    this.makeIndex([]);
  }

  get bytes(): number {
    return this.#bytes;
  }

  get count(): number {
    return this.#rows.size;
  }

  get(key: string): string | undefined {
    return this.#rows.get(key);
  }

  set(key: string, json: string | undefined): void {
    const before = this.#rows.get(key);
    if (before !== undefined) for (const index of this.#indexes.values()) index.remove(key, before);
    this.#bytes += bytesOf(key, json) - bytesOf(key, before);
    if (json === undefined) {
      this.#rows.delete(key);
      return;
    }
    this.#rows.set(key, json);
    for (const index of this.#indexes.values()) index.add(key, json);
  }

  /** Returns the bytes by which storing the row would change `bytes`. */
  addedBytes(key: string, json: string | undefined): number {
    return bytesOf(key, json) - bytesOf(key, this.#rows.get(key));
  }

  index(index: ViewIndex): MemoryIndex | undefined {
    return this.#indexes.get(nameOf(index));
  }

  /** Throws as `MemoryIndex.fill` does. */
  makeIndex(index: ViewIndex): void {
    const made = new MemoryIndex(index, this.#limits);
    made.fill(this.#rows);
    this.#indexes.set(nameOf(index), made);
  }

  /** Drops the indexes that are not among these, except that of the keys. */
  dropOtherIndexes(indexes: readonly ViewIndex[]): void {
    const declared = new Set([[], ...indexes].map(nameOf));
    for (const name of this.#indexes.keys()) if (!declared.has(name)) this.#indexes.delete(name);
  }

  clear(): void {
    this.#rows.clear();
    this.#indexes.clear();
    this.makeIndex([]);
    this.#bytes = 0;
    this.isLive = false;
    this.foldedTo = undefined;
  }
}

function bytesOf(key: string, json: string | undefined): number {
  return json === undefined ? 0 : ROW_BYTES + 2 * (key.length + json.length);
}

function nameOf(index: ViewIndex): string {
  return JSON.stringify(index.map(({ field, type }) => [field, type.kind]));
}
