// MemoryViews is a store of views that is lost when the process ends.
import type {
  FormerRows,
  KeptView,
  StoredView,
  ViewReader,
  ViewStore,
  ViewWriter,
} from '../../engine/needs/views.ts';
import { type ViewLimits, VIEW_LIMITS_DEFAULT } from '@svc/model/view-limits';
import { viewInUse, viewsFull } from '../view-walk/view-refusals.ts';
import { MemoryRows } from './memory-rows.ts';
import { MemoryViewReader } from './memory-view-reader.ts';
import { MemoryViewWriter } from './memory-view-writer.ts';

export class MemoryViews implements ViewStore {
  readonly #limits: ViewLimits;
  /** Indexed by definition. */
  readonly #stored = new Map<string, MemoryRows>();

  constructor(limits: ViewLimits = VIEW_LIMITS_DEFAULT) {
    this.#limits = limits;
  }

  reader(view: StoredView): ViewReader {
    return new MemoryViewReader(view, this.#limits, () => this.#stored.get(view.definition));
  }

  former({ id, rowType, definition }: StoredView): readonly FormerRows[] {
    return Array.from(this.#stored).flatMap(([stored, { origin, isLive, foldedTo }]) =>
      stored === definition ||
      origin.id !== id ||
      origin.rowType !== rowType ||
      !isLive ||
      !foldedTo
        ? []
        : [{ definition: stored, foldedTo }],
    );
  }

  openWriter(view: StoredView): ViewWriter {
    const { definition } = view;
    let rows = this.#stored.get(definition);
    if (rows?.hasWriter === true) throw viewInUse(definition);
    if (rows === undefined) {
      rows = new MemoryRows(view, this.#limits);
      this.#stored.set(definition, rows);
    }
    return new MemoryViewWriter(view, this.#limits, rows, (bytes) => this.#reserve(bytes));
  }

  /** Memory has no disk to spare. */
  freeBytes(): number {
    return Infinity;
  }

  list(): readonly KeptView[] {
    return Array.from(this.#stored, ([definition, { bytes, usedMs }]) => ({
      definition,
      bytes,
      usedMs,
    }));
  }

  removeUnused(inUse: ReadonlySet<string>, nowMs: number): readonly string[] {
    const removed: string[] = [];
    for (const [definition, rows] of this.#stored) {
      if (inUse.has(definition)) rows.usedMs = nowMs;
      if (rows.hasWriter || rows.usedMs + this.#limits.keptMs > nowMs) continue;
      this.#stored.delete(definition);
      removed.push(definition);
    }
    return removed;
  }

  close(): void {
    // There is nothing to release.
  }

  /** Throws SVC_VIEWS_FULL if so many more bytes do not fit. */
  #reserve(bytes: number): void {
    const { bytesMax } = this.#limits;
    if (bytesMax === 0 || bytes <= 0) return;
    const stored = this.list().reduce((sum, kept) => sum + kept.bytes, 0);
    if (stored + bytes > bytesMax) throw viewsFull(bytesMax, stored);
  }
}
