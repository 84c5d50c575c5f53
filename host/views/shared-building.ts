// SharedBuilding is what views share that are built in one thread at the same time: turns, so that they stay near each other
// and the thread rests between any two parts of work; the pages of the journal; and the memory for rows that are not
// stored. Each view keeps its own rows, position and failures.
import type { Feed } from '../engine/needs/feed.ts';
import { RowMemory } from './building-rows.ts';
import { type PageReader, SharedPages } from './shared-pages.ts';

/** Maximum number of records of a page. */
export interface PageSizes {
  /** While a view is built. */
  readonly building: number;
  /** While a view follows. */
  readonly following: number;
  /** Maximum number of changed rows that are kept in memory while a view is built; 0: those of a page are stored with it. */
  readonly rowsInMemory: number;
}

/** Sizes for a thread that does nothing else. */
export const PAGE_SIZES: PageSizes = { building: 5_000, following: 1_000, rowsInMemory: 200_000 };

/** Pauses between the parts of a building, so that other work is not delayed. */
export interface BuildingPace {
  /** Called after work that took `tookMs`; resolves when the building may go on. */
  rest(tookMs: number): Promise<void>;
}

/** Number of views that should be built at the same time: each has a page cache of its file, of 32 MiB. */
export const BUILT_TOGETHER_MAX = 4;

export class SharedBuilding {
  readonly memory = new RowMemory();
  readonly sizes: PageSizes;
  readonly #pace: BuildingPace;
  readonly #pages: SharedPages;
  /** Settles after the last turn that was asked for; never rejects. */
  #last: Promise<void> = Promise.resolve();

  constructor(feed: Feed, pace: BuildingPace, sizes: PageSizes = PAGE_SIZES) {
    this.#pace = pace;
    this.#pages = new SharedPages(feed, sizes.building);
    this.sizes = sizes;
  }

  /** Returns the feed for a view that is built. */
  join(sources: ReadonlySet<string>): PageReader {
    return this.#pages.join(sources);
  }

  /** Does a part of a building after those that were asked for earlier, and rests. Rejects as `work` does, without a rest. */
  async turn(work: () => Promise<void>): Promise<void> {
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    await before;
    try {
      const startedMs = performance.now();
      await work();
      await this.#pace.rest(performance.now() - startedMs);
    } finally {
      resolve();
    }
  }
}
