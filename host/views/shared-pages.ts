// SharedPages reads a feed for the views that are built at the same time, each page once for all that are near it.
//
// Invariants
// P1  A reader gets the records of its own components, as the feed would give them. Only where pages end is shared.
// P2  A record that cannot be read holds up the readers of its component alone.
import type { Feed, FeedPage, Position } from '../engine/needs/feed.ts';
import type { FoldFeed } from './view-fold.ts';

/** Number of pages in memory. A reader that is further behind the others reads for itself. */
const PAGES_MAX = 4;

interface KeptPage {
  readonly after: Position;
  readonly limit: number;
  readonly components: ReadonlySet<string>;
  readonly page: FeedPage;
}

/** The feed of one reader. */
export interface PageReader extends FoldFeed {
  /** From now on it reads for itself alone. */
  leave(): void;
}

export class SharedPages {
  readonly #feed: Feed;
  readonly #pageRecords: number;
  /** Components of the readers. */
  readonly #readers = new Set<ReadonlySet<string>>();
  /** The latest last. */
  #pages: readonly KeptPage[] = [];

  /** `pageRecords`: a page of several readers ends at a multiple of it, so that readers that have diverged meet again. */
  constructor(feed: Feed, pageRecords: number) {
    this.#feed = feed;
    this.#pageRecords = pageRecords;
  }

  join(components: ReadonlySet<string>): PageReader {
    const feed = this.#feed;
    const reader = new Set(components);
    this.#readers.add(reader);
    return {
      start: feed.start,
      count: (from, to) => feed.count(from, to),
      mark: (position) => feed.mark(position),
      read: (after, limit, wanted) => this.#read(after, limit, wanted, this.#readers.has(reader)),
      leave: () => {
        this.#readers.delete(reader);
        if (this.#readers.size < 2) this.#pages = [];
      },
    };
  }

  async #read(
    after: Position,
    max: number,
    wanted: ReadonlySet<string>,
    isShared: boolean,
  ): Promise<FeedPage> {
    const feed = this.#feed;
    if (!isShared || this.#readers.size === 1) return feed.read(after, max, wanted);
    const limit = Math.min(
      max,
      this.#pageRecords - (feed.count(feed.start, after) % this.#pageRecords),
    );
    const kept = this.#pages.find(
      (one) => one.after === after && one.limit === limit && wanted.isSubsetOf(one.components),
    );
    if (kept !== undefined) return part(kept, wanted);
    const components = new Set([...this.#readers].flatMap((reader) => [...reader]));
    let page: FeedPage;
    try {
      page = await feed.read(after, limit, components);
    } catch {
      return feed.read(after, limit, wanted);
    }
    const read = { after, limit, components, page };
    // At the end of the feed there may be more when the next reader comes. The other readers may have left meanwhile.
    if (page.position !== after && this.#readers.size > 1)
      this.#pages = [...this.#pages.slice(1 - PAGES_MAX), read];
    return part(read, wanted);
  }
}

function part({ components, page }: KeptPage, wanted: ReadonlySet<string>): FeedPage {
  if (components.size === wanted.size) return page;
  const { records, position } = page;
  return { records: records.filter(({ entity }) => wanted.has(entity.component)), position };
}
