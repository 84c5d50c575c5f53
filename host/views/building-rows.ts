// BuildingRows keeps the rows that change while a view is built in memory, and stores them together: a row that many events
// change is read and written once, and rows that are beside each other in the file are written one after the other.
//
// Invariant: what is stored are the rows of one position. Rows in memory that are lost are folded again from there.
import type { FoldedTo, RowChange, ViewWriter } from '../engine/needs/views.ts';

/** The part of the writer of rows that a fold needs. */
export type FoldedRows = Pick<ViewWriter, 'rows' | 'put' | 'revision'>;

/** UTF-16 units of keys and JSON texts in memory after which rows are stored. */
const UNITS_MAX = 32 * 1024 * 1024;

/** The memory for the rows of all views that are built at the same time. */
export class RowMemory {
  #units = 0;

  get isFull(): boolean {
    return this.#units >= UNITS_MAX;
  }

  /** Counts UTF-16 units that are kept from now on, or, if negative, no longer. */
  add(units: number): void {
    this.#units += units;
  }
}

/** Thrown when rows in memory could not be stored, for the reason `cause`. They are no longer in memory. */
export class RowsNotStored extends Error {}

export class BuildingRows implements FoldedRows {
  readonly #writer: FoldedRows;
  readonly #memory: RowMemory;
  #rowsMax: number;
  readonly #changed = new Map<string, string | undefined>();
  #units = 0;
  #foldedTo: FoldedTo | undefined;

  /** `rowsMax`: number of changed rows after which they are stored; 0: each `put` stores its own. */
  constructor(writer: FoldedRows, rowsMax: number, memory: RowMemory) {
    this.#writer = writer;
    this.#rowsMax = rowsMax;
    this.#memory = memory;
  }

  /** Whether all rows are stored. */
  get isEmpty(): boolean {
    return this.#foldedTo === undefined;
  }

  get revision(): string | undefined {
    return this.#writer.revision;
  }

  async rows(keys: readonly string[]): Promise<readonly (string | undefined)[]> {
    const missing = keys.filter((key) => !this.#changed.has(key));
    if (missing.length === 0) return keys.map((key) => this.#changed.get(key));
    const stored = (await this.#writer.rows(missing)).values();
    return keys.map((key) =>
      this.#changed.has(key) ? this.#changed.get(key) : stored.next().value,
    );
  }

  /** Rejects with RowsNotStored; if nothing is kept in memory, as `ViewWriter.put` does. */
  async put(changes: readonly RowChange[], foldedTo: FoldedTo): Promise<void> {
    if (this.#rowsMax === 0) return this.#writer.put(changes, foldedTo);
    let units = 0;
    for (const { key, json } of changes) {
      const before = this.#changed.get(key)?.length;
      units += (json?.length ?? 0) - (before ?? -key.length);
      this.#changed.set(key, json);
    }
    this.#units += units;
    this.#memory.add(units);
    this.#foldedTo = foldedTo;
    if (this.#changed.size >= this.#rowsMax || this.#memory.isFull) await this.store();
  }

  /** From now on each `put` stores its own rows. Call it when nothing is in memory. */
  keepNothing(): void {
    this.#rowsMax = 0;
  }

  /** Gives up the rows in memory. */
  discard(): void {
    this.#memory.add(-this.#units);
    this.#changed.clear();
    this.#units = 0;
    this.#foldedTo = undefined;
  }

  /** Stores the rows in memory. Rejects with RowsNotStored. */
  async store(): Promise<void> {
    const foldedTo = this.#foldedTo;
    if (foldedTo === undefined) return;
    const changes = Array.from(this.#changed, ([key, json]) => ({ key, json }));
    this.discard();
    try {
      await this.#writer.put(changes, foldedTo);
    } catch (cause) {
      throw new RowsNotStored('rows in memory were not stored', { cause });
    }
  }
}
