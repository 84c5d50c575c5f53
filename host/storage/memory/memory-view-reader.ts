// MemoryViewReader answers queries of a view in memory.
import {
  COUNT_MAX,
  type RowCount,
  type StoredView,
  type ViewPage,
  type ViewQuery,
  type ViewReader,
  type ViewRow,
  type ViewStatus,
} from '../../engine/needs/views.ts';
import type { ViewLimits } from '@svc/model/view-limits';
import { PageRows } from '../view-walk/page-rows.ts';
import { checkKey, checkLimit } from '../view-walk/row-columns.ts';
import { cursorAt, positionOf } from '../view-walk/view-cursor.ts';
import { viewRebuilding } from '../view-walk/view-refusals.ts';
import { type Walk, after, walkOf } from '../view-walk/walk.ts';
import type { Entry, MemoryIndex, MemoryRows } from './memory-rows.ts';

export class MemoryViewReader implements ViewReader {
  readonly #view: StoredView;
  readonly #limits: ViewLimits;
  readonly #stored: () => MemoryRows | undefined;

  constructor(view: StoredView, limits: ViewLimits, stored: () => MemoryRows | undefined) {
    this.#view = view;
    this.#limits = limits;
    this.#stored = stored;
  }

  status(): ViewStatus {
    const rows = this.#stored();
    if (rows === undefined) return { state: 'missing', reason: undefined };
    return { state: rows.isLive ? 'live' : 'building', foldedTo: rows.foldedTo };
  }

  get(key: string): ViewRow | undefined {
    checkKey(key, this.#limits);
    const json = this.#rows().get(key);
    return json === undefined ? undefined : { key, json };
  }

  find(query: ViewQuery, limit: number, cursor?: string): ViewPage {
    checkLimit(limit, this.#limits);
    const { definition } = this.#view;
    const walk = walkOf(this.#view, query);
    const position = cursor === undefined ? undefined : positionOf(definition, walk, cursor);
    const rows = this.#rows();
    const index = this.#index(rows, query);
    const page = new PageRows(limit, this.#limits.pageBytesMax);
    const [from, until] = entriesOf(index, position === undefined ? walk : after(walk, position));
    let last: Entry | undefined;
    for (let step = 0; step < until - from; step++) {
      const entry = index.entries[walk.descending ? until - 1 - step : from + step]!;
      const key = entry.at(-1) as string;
      if (!page.add({ key, json: rows.get(key)! })) {
        const next = cursorAt(definition, walk, last!.slice(walk.equals.length));
        return { rows: page.rows, cursor: next };
      }
      last = entry;
    }
    return { rows: page.rows, cursor: undefined };
  }

  count(query: ViewQuery): RowCount {
    const walk = walkOf(this.#view, query);
    const [from, until] = entriesOf(this.#index(this.#rows(), query), walk);
    const count = until - from;
    return { count: Math.min(count, COUNT_MAX), hasMore: count > COUNT_MAX };
  }

  close(): void {
    // There is nothing to close.
  }

  #rows(): MemoryRows {
    const rows = this.#stored();
    if (rows?.isLive !== true) throw viewRebuilding('its rows are being built');
    return rows;
  }

  #index(rows: MemoryRows, { plan }: ViewQuery): MemoryIndex {
    const index = rows.index(plan.index === 'key' ? [] : this.#view.indexes[plan.index]!);
    if (index === undefined) throw viewRebuilding('the index of this query is being made');
    return index;
  }
}

/** Returns the range of the entries that a walk goes over. */
function entriesOf(
  index: MemoryIndex,
  { equals, lower, upper, isEmpty }: Walk,
): readonly [from: number, until: number] {
  if (isEmpty) return [0, 0];
  const from = index.offsetOf([...equals, ...(lower?.values ?? [])], lower?.isInclusive ?? true);
  const until = index.offsetOf([...equals, ...(upper?.values ?? [])], upper?.isInclusive === false);
  return [from, Math.max(from, until)];
}
