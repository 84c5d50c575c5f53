// MemoryViewWriter is the writer of a view in memory.
import assert from 'node:assert';
import {
  type FoldedTo,
  type RowChange,
  SKIPS_MAX,
  type SkippedEvent,
  type StoredView,
  type ViewIndex,
  type ViewWriter,
} from '../../engine/needs/views.ts';
import type { ViewLimits } from '@svc/model/view-limits';
import { checkSizes, valuesOf } from '../view-walk/row-columns.ts';
import type { MemoryRows } from './memory-rows.ts';

export class MemoryViewWriter implements ViewWriter {
  readonly discarded = undefined;
  readonly #view: StoredView;
  readonly #limits: ViewLimits;
  readonly #rows: MemoryRows;
  readonly #reserve: (bytes: number) => void;
  #isClosed = false;

  /** `reserve`: throws SVC_VIEWS_FULL if so many more bytes do not fit. */
  constructor(
    view: StoredView,
    limits: ViewLimits,
    rows: MemoryRows,
    reserve: (bytes: number) => void,
  ) {
    this.#view = view;
    this.#limits = limits;
    this.#rows = rows;
    this.#reserve = reserve;
    rows.hasWriter = true;
    rows.usedMs = Date.now();
  }

  get isLive(): boolean {
    return this.#rows.isLive;
  }

  get foldedTo(): FoldedTo | undefined {
    return this.#rows.foldedTo;
  }

  get rowCount(): number {
    return this.#rows.count;
  }

  get skips(): readonly SkippedEvent[] {
    return this.#rows.skips;
  }

  rows(keys: readonly string[]): readonly (string | undefined)[] {
    return keys.map((key) => this.#rows.get(key));
  }

  put(changes: readonly RowChange[], foldedTo: FoldedTo): void {
    assert(!this.#isClosed, 'the writer is closed');
    const fields = this.#view.indexes.flat().map(({ field, type: { kind } }) => ({ field, kind }));
    let bytes = 0;
    for (const { key, json } of changes) {
      checkSizes(key, json, this.#limits);
      if (json !== undefined) valuesOf({ key, json }, fields, this.#limits);
      bytes += this.#rows.addedBytes(key, json);
    }
    this.#reserve(bytes);
    for (const { key, json } of changes) this.#rows.set(key, json);
    this.#rows.foldedTo = foldedTo;
  }

  prepareIndexes(): boolean {
    this.#rows.dropOtherIndexes(this.#view.indexes);
    const missing = this.#missingIndex();
    if (missing !== undefined) this.#rows.makeIndex(missing);
    return this.#missingIndex() === undefined;
  }

  goLive(): void {
    assert(this.#missingIndex() === undefined, 'an index is not ready');
    this.#rows.isLive = true;
  }

  clear(): void {
    this.#rows.clear();
  }

  skip(event: SkippedEvent): void {
    assert(this.#rows.skips.length < SKIPS_MAX, 'too many events are skipped');
    this.#rows.skips = [...this.#rows.skips, event];
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#rows.hasWriter = false;
    this.#rows.usedMs = Date.now();
  }

  #missingIndex(): ViewIndex | undefined {
    return this.#view.indexes.find((index) => this.#rows.index(index) === undefined);
  }
}
