// ViewModel: a history of events, two views of it, and the rows that they have to have after all of it.
//
// A folder of views keeps to it when, after a crash, each view that is continued to the end of the history has the rows of a
// fold from nothing, and its queries find them by its index.
import assert from 'node:assert/strict';
import type { GuestViews } from '../../../model/guest.ts';
import type { Feed } from '../../../host/engine/needs/feed.ts';
import type { ViewReader, ViewStore } from '../../../host/engine/needs/views.ts';
import type { JournalRecord } from '../../../model/entity.ts';
import { VIEW_LIMITS_DEFAULT } from '../../../model/view-limits.ts';
import { MemoryJournal } from '../../../host/storage/memory/memory-journal.ts';
import { FileViews } from '../../../host/storage/views/file-views.ts';
import type { FoldedView } from '../../../host/views/folded-view.ts';
import { SharedBuilding } from '../../../host/views/shared-building.ts';
import { ViewFollower } from '../../../host/views/view-follower.ts';
import { SvcError } from '../../../kit/svc-error.ts';
import { append } from '../../suites/journal-suite.ts';
import { ALL_KEYS, indexOn, planned } from '../../suites/view-store/views-under-test.ts';
import { Random } from '../random.ts';

const ENTITIES = 12;
const PAGE_SIZES = { building: 9, following: 3, rowsInMemory: 6 };
/** Records after which the first view is live, and the second one is begun. */
export const LIVE_FROM = 120;
export const HISTORY_LENGTH = 240;

function viewOf(id: string, definition: string): FoldedView {
  const indexes = [indexOn(['n', 'integer'])];
  const stored = { id, rowType: 'sum', definition: definition.repeat(16), indexes };
  return { id, sources: new Set(['counter']), hasKeys: false, stored };
}
export const VIEWS = [viewOf('sums', 'a1'), viewOf('sums', 'b2')] as const;

/** Rows depend on the order of the events, and on each event being folded once. */
const guest: Pick<GuestViews, 'fold'> = {
  fold(_view, rows, events) {
    const sums = rows.map(({ json }) => (json === undefined ? 1 : (JSON.parse(json) as Sum).n));
    for (const { event, rows: concerned } of events)
      for (const at of concerned) {
        const { by } = JSON.parse(event.event.json) as { readonly by: number };
        sums[at] = (sums[at]! * 31 + by) % 1_000_003;
      }
    return rows.map(({ key }, at) => ({ key, json: JSON.stringify({ n: sums[at] }) }));
  },
};
interface Sum {
  readonly n: number;
}

/** Appends the records from one number of the history to another one. */
export class History {
  readonly journal = new MemoryJournal();
  readonly #random: Random;
  readonly #lastSeq = new Map<string, number>();
  #length = 0;

  constructor(seed: number) {
    this.#random = new Random(seed);
  }

  async growTo(length: number): Promise<void> {
    for (; this.#length < length; this.#length++) {
      const id = `e${this.#random.below(ENTITIES)}`;
      const seq = (this.#lastSeq.get(id) ?? 0) + 1;
      this.#lastSeq.set(id, seq);
      const failure = await append(
        this.journal,
        { component: 'counter', id },
        this.#record(seq, this.#random.chance(10)),
      );
      if (failure !== undefined) throw failure;
    }
  }

  #record(seq: number, isDeletion: boolean): JournalRecord {
    const origin = { seq, timeMs: 1_700_000_000_000 + this.#length };
    if (isDeletion) return { kind: 'deleted', ...origin };
    const json = JSON.stringify({ type: 'added', by: this.#random.below(1_000) });
    return { kind: 'event', ...origin, event: { manifest: 'added', json } };
  }
}

export function openFollower(
  view: FoldedView,
  feed: Feed,
  store: ViewStore,
  discard?: string,
): Promise<ViewFollower> {
  return ViewFollower.open({
    view,
    guest: guest as GuestViews,
    feed,
    store,
    limits: { ...VIEW_LIMITS_DEFAULT, freeBytesMin: 0 },
    building: new SharedBuilding(feed, { rest: async () => {} }, PAGE_SIZES),
    observer: { folded() {}, building() {}, live() {} },
    discard,
  });
}

export class ViewModel {
  readonly #feed: Feed;
  readonly #rows: string;
  /** Files that were found damaged, and were built again. */
  damaged = 0;

  private constructor(feed: Feed, rows: string) {
    this.#feed = feed;
    this.#rows = rows;
  }

  static async make(seed: number): Promise<ViewModel> {
    const history = new History(seed);
    await history.growTo(HISTORY_LENGTH);
    // A fold from nothing in one order, with the plainest code there is.
    const sums = new Map<string, number>();
    const feed = history.journal.feed();
    for (const { entity, record } of feed.read(feed.start, HISTORY_LENGTH, VIEWS[0].sources)
      .records)
      if (record.kind === 'deleted') sums.delete(entity.id);
      else {
        const { by } = JSON.parse(record.event.json) as { readonly by: number };
        sums.set(entity.id, ((sums.get(entity.id) ?? 1) * 31 + by) % 1_000_003);
      }
    const rows = [...sums].toSorted(([a], [b]) => (a < b ? -1 : 1));
    return new ViewModel(feed, JSON.stringify(rows.map(([key, n]) => [key, { n }])));
  }

  /** Throws when a view of the folder, once it is continued, has other rows. */
  async check(dir: string): Promise<void> {
    const store = new FileViews(dir, VIEW_LIMITS_DEFAULT);
    for (const view of VIEWS) {
      await this.#complete(view, store);
      const reader = store.reader(view.stored);
      assert.equal(JSON.stringify(await rowsOf(reader, 'key')), this.#rows, 'the rows');
      const byIndex = await rowsOf(reader, 0);
      const byKey = byIndex.toSorted(([a], [b]) => (a < b ? -1 : 1));
      assert.equal(JSON.stringify(byKey), this.#rows, 'the rows by the index');
      reader.close();
    }
  }

  async #complete(view: FoldedView, store: ViewStore): Promise<void> {
    for (const discard of [undefined, 'they are damaged']) {
      const follower = await openFollower(view, this.#feed, store, discard);
      try {
        return await follower.complete(new AbortController().signal);
      } catch (error) {
        if (!(error instanceof SvcError) || error.code !== 'SVC_VIEW_CORRUPT') throw error;
        this.damaged++;
      } finally {
        follower.close();
      }
    }
    throw new Error('new rows are damaged');
  }
}

async function rowsOf(reader: ViewReader, index: number | 'key'): Promise<[string, unknown][]> {
  const query = index === 'key' ? ALL_KEYS : planned({ index });
  const { rows } = await reader.find(query, 1_000);
  return rows.map(({ key, json }) => [key, JSON.parse(json) as unknown]);
}
