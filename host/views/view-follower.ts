// ViewFollower keeps the rows of one view up to date, for as long as it runs: it builds them if there are none, and then folds
// each event soon after it is stored. It owns the writer of the rows.
//
// Invariants
// L1  Rows are readable only once they have all events that were on disk when the last page of the building was read.
// L2  Rows of another journal, or of a position that this journal does not have any more, are never continued.
import { setTimeout } from 'node:timers/promises';
import type { Awaitable } from '@svc/model/call';
import { SvcError } from '@svc/kit/svc-error';
import type { Feed, Position } from '../engine/needs/feed.ts';
import type { GuestViews } from '@svc/model/guest';
import type { FoldedTo, SkippedEvent, ViewStore, ViewWriter } from '../engine/needs/views.ts';
import type { ViewLimits } from '@svc/model/view-limits';
import type { FoldedView } from './folded-view.ts';
import { BuildingRows, RowsNotStored } from './building-rows.ts';
import type { PageReader } from './shared-pages.ts';
import type { PageSizes, SharedBuilding } from './shared-building.ts';
import { ViewFold } from './view-fold.ts';
import { ViewStopped } from './view-stopped.ts';

/** How often a building that pauses looks for space, in milliseconds. */
const SPACE_CHECK_MS = 1_000;
/** Number of rows whose columns are filled before the thread yields. */
const INDEXED_ROWS = 5_000;

/** Receives what happens to a view. */
export interface ViewObserver {
  /**
   * Events are folded up to this position. Also called when a view that follows has no more of them. `isStored`: their rows
   * are not in memory only.
   */
  folded(position: Position, rowCount: number, isStored: boolean): void;
  /** Rows that were in memory only are lost. Events are folded up to this position. */
  setBack?(position: Position): void;
  /** The rows are being built. The follower waits until this has resolved. `reason`: why rows that were there cannot be used; undefined if there were none. */
  building(reason: string | undefined): Awaitable<void>;
  /** Queries are answered from now on. */
  live(): void;
  /** The building pauses because the disk has little space, or goes on. */
  paused?(isPaused: boolean): void;
  /** A row is larger than half of the limit. */
  large?(key: string): void;
}

export type FollowLimits = Pick<ViewLimits, 'keyBytesMax' | 'rowBytesMax' | 'freeBytesMin'>;

export interface FollowerNeeds {
  readonly view: FoldedView;
  readonly guest: GuestViews;
  readonly feed: Feed;
  readonly store: ViewStore;
  readonly limits: FollowLimits;
  /** Shared by the views that one thread builds. */
  readonly building: SharedBuilding;
  readonly observer: ViewObserver;
  /** Resolves when the events that are stored should be folded, or the signal is aborted; absent: at once. */
  readonly gathered?: ((signal: AbortSignal) => Promise<void>) | undefined;
  /** Why all rows are built again, after "the rows of the view are built again, because"; undefined: they are not. */
  readonly discard?: string | undefined;
  /** Whether the rows are also taken from a writer of another node. */
  readonly takesOver?: boolean;
}

export class ViewFollower {
  readonly #needs: FollowerNeeds;
  readonly #writer: ViewWriter;
  readonly #rows: BuildingRows;
  readonly #feed: PageReader;
  #fold: ViewFold;

  /** Opens the writer. Rejects with its errors, and with those of the feed. */
  static async open(needs: FollowerNeeds): Promise<ViewFollower> {
    const { feed, store, view, observer, discard, takesOver } = needs;
    const writer = await store.openWriter(view.stored, takesOver);
    try {
      const { foldedTo } = writer;
      let reason = writer.discarded;
      if (foldedTo !== undefined && (discard !== undefined || !(await isOf(feed, foldedTo)))) {
        reason = discard ?? 'they are of another journal';
        await writer.clear();
      }
      if (!writer.isLive) await observer.building(reason);
      return new ViewFollower(needs, writer);
    } catch (error) {
      writer.close();
      throw error;
    }
  }

  private constructor(needs: FollowerNeeds, writer: ViewWriter) {
    this.#needs = needs;
    this.#writer = writer;
    const { building, view } = needs;
    const rowsMax = writer.isLive ? 0 : this.#sizes.rowsInMemory;
    this.#rows = new BuildingRows(writer, rowsMax, building.memory);
    this.#feed = building.join(view.sources);
    if (writer.isLive) this.#feed.leave();
    this.#fold = this.#foldFromStored();
  }

  #foldFromStored(): ViewFold {
    const { view, guest, limits, observer } = this.#needs;
    const { foldedTo, skips } = this.#writer;
    return new ViewFold({
      view,
      guest,
      feed: this.#feed,
      writer: this.#rows,
      foldedTo,
      skips,
      limits,
      onLargeRow: (key) => observer.large?.(key),
    });
  }

  /** Whether queries are answered. */
  get isLive(): boolean {
    return this.#writer.isLive;
  }

  /** The position up to which events are folded. */
  get position(): Position {
    return this.#fold.position;
  }

  get skips(): readonly SkippedEvent[] {
    return this.#writer.skips;
  }

  get rowCount(): number {
    return this.#writer.rowCount;
  }

  /** Number of records on disk that are not folded yet. */
  get recordsLeft(): number {
    const { feed } = this.#needs;
    return feed.count(this.#fold.position, feed.end());
  }

  /**
   * Builds the rows, unless they are live. Resolves once they are, or `signal` is aborted. Rejects with ViewStopped, and with
   * the errors of feed and writer.
   */
  async build(signal: AbortSignal): Promise<void> {
    const { building } = this.#needs;
    while (!signal.aborted && !this.#writer.isLive) {
      await this.#space(signal);
      await building.turn(async () => {
        if (!signal.aborted) await this.#buildPart();
      });
    }
    if (!signal.aborted) return;
    await this.#rows.store().catch((error: RowsNotStored) => {
      throw error.cause;
    });
  }

  async #buildPart(): Promise<void> {
    try {
      await this.#foldPart();
    } catch (error) {
      this.#setBack();
      if (!(error instanceof RowsNotStored)) throw error;
      if (!isRowInvalid(error.cause)) throw error.cause;
      // The fold finds the event of a row that cannot be stored when each page is stored by itself.
      this.#rows.keepNothing();
    }
  }

  /** Gives up the rows in memory, so that no event is reported as folded that is not in stored rows. */
  #setBack(): void {
    this.#rows.discard();
    this.#fold = this.#foldFromStored();
    this.#needs.observer.setBack?.(this.#fold.position);
  }

  /** Folds a page; after the last one, does a part of the work that makes the rows readable. */
  async #foldPart(): Promise<void> {
    try {
      if (await this.#step(this.#sizes.building)) return;
    } catch (error) {
      if (error instanceof ViewStopped) await this.#rows.store();
      throw error;
    }
    await this.#rows.store();
    if (!(await this.#writer.prepareIndexes(INDEXED_ROWS))) return;
    await this.#writer.goLive();
    this.#rows.keepNothing();
    this.#feed.leave();
    this.#needs.observer.live();
  }

  /**
   * Makes the indexes those that the view declares, and folds events as they are stored, until `signal` is aborted. Call
   * it for live rows. Rejects as `build` does.
   */
  async follow(signal: AbortSignal): Promise<void> {
    let areIndexesReady = false;
    while (!signal.aborted) {
      if (await this.#step(this.#sizes.following)) {
        await yielded();
        continue;
      }
      this.#reportFolded();
      areIndexesReady ||= await this.#writer.prepareIndexes(INDEXED_ROWS);
      if (!areIndexesReady || signal.aborted) continue;
      await this.#nextRecord(signal);
      await this.#needs.gathered?.(signal);
    }
  }

  /**
   * Builds the rows, or folds the events that live rows lack, up to the end of the feed, and makes all indexes. For a feed that
   * does not grow. Rejects as `build` does.
   */
  async complete(signal: AbortSignal): Promise<void> {
    await this.build(signal);
    while (!signal.aborted && (await this.#step(this.#sizes.building)));
    while (!signal.aborted && !(await this.#writer.prepareIndexes(INDEXED_ROWS)));
  }

  /** Resolves once the disk has space to build rows, or the signal is aborted. */
  async #space(signal: AbortSignal): Promise<void> {
    const { store, limits, observer } = this.#needs;
    if ((await store.freeBytes()) >= limits.freeBytesMin) return;
    observer.paused?.(true);
    do {
      await setTimeout(SPACE_CHECK_MS, undefined, { signal }).catch(() => {});
    } while (!signal.aborted && (await store.freeBytes()) < limits.freeBytesMin);
    observer.paused?.(false);
  }

  /** Resolves once a record is on disk that is not folded, or the signal is aborted. */
  async #nextRecord(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const end = () => resolve();
    signal.addEventListener('abort', end);
    void this.#needs.feed.advancedPast(this.#fold.position).then(end);
    await promise;
    signal.removeEventListener('abort', end);
  }

  close(): void {
    this.#feed.leave();
    this.#rows.discard();
    this.#writer.close();
  }

  get #sizes(): PageSizes {
    return this.#needs.building.sizes;
  }

  async #step(recordsMax: number): Promise<boolean> {
    const hasFolded = await this.#fold.step(recordsMax);
    if (hasFolded) this.#reportFolded();
    return hasFolded;
  }

  #reportFolded(): void {
    const { position } = this.#fold;
    this.#needs.observer.folded(position, this.#writer.rowCount, this.#rows.isEmpty);
  }
}

function isRowInvalid(error: unknown): boolean {
  return error instanceof SvcError && error.code === 'SVC_VIEW_ROW_INVALID';
}

/** Lets the other work of the thread go first. */
function yielded(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** Returns whether the journal has the record at which the rows are. */
export async function isOf(feed: Feed, { position, mark }: FoldedTo): Promise<boolean> {
  const parsed = feed.parse(position);
  if (parsed === undefined || !feed.hasReached(feed.end(), parsed)) return false;
  return (await feed.mark(parsed)) === mark;
}
