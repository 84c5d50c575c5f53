// FeedCursor reads a feed for one consumer, page by page, and knows whether more may be on disk.
//
// Invariant: at most one page is being read. What a read gives after `close` is dropped.
import type { Feed, FeedPage, Position } from '../engine/needs/feed.ts';

export interface FeedCursorNeeds {
  readonly feed: Pick<Feed, 'start' | 'read' | 'advancedPast'>;
  readonly components: ReadonlySet<string>;
  /** Pause after a failure, in milliseconds. */
  readonly pauseMs: number;
  /** Milliseconds that never go back. */
  readonly monotonicMs: () => number;
  /** Receives each page that moves the position. */
  readonly onPage: (page: FeedPage) => void;
  readonly onFailure: (error: unknown) => void;
  /** Called when more may be on disk, and after each page or failure that came later. */
  readonly onChange: () => void;
}

export class FeedCursor {
  readonly #needs: FeedCursorNeeds;
  #position: Position;
  /** The position after which nothing was on disk, until something is. */
  #end: Position | undefined;
  #isReading = false;
  #isClosed = false;
  #readAtMs = -Infinity;

  constructor(needs: FeedCursorNeeds) {
    this.#needs = needs;
    this.#position = needs.feed.start;
  }

  /** Whether the last page was empty, and nothing was stored since. */
  get isAtEnd(): boolean {
    return this.#end === this.#position;
  }

  /** When the feed may be read again after a failure, by the monotonic clock. */
  get readAtMs(): number {
    return this.#readAtMs;
  }

  /** Whether a page may be read now. */
  canRead(monotonicMs: number): boolean {
    return !this.#isReading && monotonicMs >= this.#readAtMs;
  }

  /** Begins after `position` instead of the start. Call it before the first read. */
  begin(position: Position): void {
    this.#position = position;
  }

  /**
   * Reads the next page of at most `limit` records. `passed`: called if there is none, since all records that were on disk when
   * this read began were read before. Never throws.
   */
  read(limit: number, passed: () => void): void {
    const { feed, components } = this.#needs;
    try {
      const page = feed.read(this.#position, limit, components);
      if (page instanceof Promise) void this.#await(page, passed);
      else this.#took(page, passed);
    } catch (error) {
      this.#failed(error);
    }
  }

  close(): void {
    this.#isClosed = true;
  }

  async #await(coming: Promise<FeedPage>, passed: () => void): Promise<void> {
    this.#isReading = true;
    try {
      const page = await coming;
      if (!this.#isClosed) this.#took(page, passed);
    } catch (error) {
      if (!this.#isClosed) this.#failed(error);
    }
    this.#isReading = false;
    this.#needs.onChange();
  }

  #took(page: FeedPage, passed: () => void): void {
    if (page.position === this.#position) {
      passed();
      this.#watchEnd();
      return;
    }
    this.#position = page.position;
    this.#needs.onPage(page);
  }

  #failed(error: unknown): void {
    const { monotonicMs, pauseMs, onFailure } = this.#needs;
    this.#readAtMs = monotonicMs() + pauseMs;
    onFailure(error);
  }

  /** Notes that nothing more is on disk, until something is. */
  #watchEnd(): void {
    if (this.isAtEnd) return;
    const end = this.#position;
    this.#end = end;
    void this.#needs.feed.advancedPast(end).then(() => {
      if (this.#end === end) this.#end = undefined;
      this.#needs.onChange();
    });
  }
}
