// ViewFollower keeps the rows of one view up to date, for as long as it runs: it builds them if there are none, and then folds
// each event soon after it is stored. It owns the writer of the rows.
//
// Invariants
// L1  Rows are readable only once they have all events that were on disk when the last page of the building was read.
// L2  Rows of another journal, or of a position that this journal does not have any more, are never continued.
import type { Feed, Position } from '../engine/needs/feed.ts';
import type { GuestViews } from '../engine/needs/guest.ts';
import type { FoldedTo, ViewStore, ViewWriter } from '../engine/needs/views.ts';
import type { ViewLimits } from '../model/view-limits.ts';
import type { FoldedView } from './folded-view.ts';
import { ViewFold } from './view-fold.ts';

/** Maximum number of records of a page while a view is built. */
const BUILDING_RECORDS = 5_000;
/** Maximum number of records of a page while a view follows. */
const FOLLOWING_RECORDS = 1_000;
/** Number of rows whose columns are filled before the thread yields. */
const INDEXED_ROWS = 5_000;

/** Receives what happens to a view. */
export interface ViewObserver {
  /** Events are folded up to this position. */
  folded(position: Position, rowCount: number): void;
  /** The rows are being built. `reason`: why rows that were there cannot be used; undefined if there were none. */
  building(reason: string | undefined): void;
  /** Queries are answered from now on. */
  live(): void;
}

/** Pauses between the pages of a building, so that other work is not delayed. */
export interface BuildingPace {
  /** Called after work that took `tookMs`; resolves when the building may go on. */
  rest(tookMs: number): Promise<void>;
}

export interface FollowerNeeds {
  readonly view: FoldedView;
  readonly guest: GuestViews;
  readonly feed: Feed;
  readonly store: ViewStore;
  readonly limits: Pick<ViewLimits, 'keyBytesMax'>;
  readonly pace: BuildingPace;
  readonly observer: ViewObserver;
}

export class ViewFollower {
  readonly #needs: FollowerNeeds;
  readonly #writer: ViewWriter;
  readonly #fold: ViewFold;

  /** Opens the writer. Rejects with its errors, and with those of the feed. */
  static async open(needs: FollowerNeeds): Promise<ViewFollower> {
    const { feed, store, view, observer } = needs;
    const writer = await store.openWriter(view.stored);
    try {
      const { foldedTo } = writer;
      let reason = writer.discarded;
      if (foldedTo !== undefined && !isOf(feed, foldedTo)) {
        reason = 'they are of another journal';
        await writer.clear();
      }
      if (!writer.isLive) observer.building(reason);
      return new ViewFollower(needs, writer);
    } catch (error) {
      writer.close();
      throw error;
    }
  }

  private constructor(needs: FollowerNeeds, writer: ViewWriter) {
    const { view, guest, feed, limits } = needs;
    this.#needs = needs;
    this.#writer = writer;
    this.#fold = new ViewFold({ view, guest, feed, writer, foldedTo: writer.foldedTo, limits });
  }

  /**
   * Builds the rows, unless they are live. Resolves once they are, or `signal` is aborted. Rejects with ViewStopped, and with
   * the errors of feed and writer.
   */
  async build(signal: AbortSignal): Promise<void> {
    const { observer, pace } = this.#needs;
    while (!signal.aborted && !this.#writer.isLive) {
      const startedMs = performance.now();
      const hasFolded = await this.#step(BUILDING_RECORDS);
      if (!hasFolded && (await this.#writer.prepareIndexes(INDEXED_ROWS))) {
        await this.#writer.goLive();
        observer.live();
        return;
      }
      await pace.rest(performance.now() - startedMs);
    }
  }

  /**
   * Makes the indexes those that the view declares, and folds events as they are stored, until `signal` is aborted. Call
   * it for live rows. Rejects as `build` does.
   */
  async follow(signal: AbortSignal): Promise<void> {
    const { feed, observer } = this.#needs;
    observer.folded(this.#fold.position, this.#writer.rowCount);
    let areIndexesReady = false;
    while (!signal.aborted) {
      if (await this.#step(FOLLOWING_RECORDS)) continue;
      areIndexesReady ||= await this.#writer.prepareIndexes(INDEXED_ROWS);
      if (areIndexesReady && !signal.aborted) await feed.advancedPast(this.#fold.position);
    }
  }

  close(): void {
    this.#writer.close();
  }

  async #step(recordsMax: number): Promise<boolean> {
    const hasFolded = await this.#fold.step(recordsMax);
    if (hasFolded) this.#needs.observer.folded(this.#fold.position, this.#writer.rowCount);
    return hasFolded;
  }
}

/** Whether the journal has the record at which the rows are. */
function isOf(feed: Feed, { position, mark }: FoldedTo): boolean {
  const parsed = feed.parse(position);
  return parsed !== undefined && feed.hasReached(feed.end(), parsed) && feed.mark(parsed) === mark;
}
