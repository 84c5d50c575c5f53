// ViewReplay folds one view from nothing into temporary rows, for a tool. It ends at an event that the view cannot fold, and
// before a damaged record.
import { SvcError } from '@svc/kit/svc-error';
import type { Position } from '../engine/needs/feed.ts';
import type { GuestViews } from '@svc/model/guest';
import type { SkippedEvent } from '../engine/needs/views.ts';
import { VIEW_LIMITS_DEFAULT } from '@svc/model/view-limits';
import type { TemporaryRows, TemporaryTable } from '../storage/views/temporary-rows.ts';
import type { FoldedView } from '../views/folded-view.ts';
import { type FoldFeed, ViewFold } from '../views/view-fold.ts';
import { ViewStopped } from '../views/view-stopped.ts';

/** Maximum number of records that are folded at once. */
const PAGE_RECORDS = 5_000;

export interface ViewReplayNeeds {
  readonly view: FoldedView;
  readonly guest: GuestViews;
  readonly feed: FoldFeed;
  readonly rows: TemporaryRows;
  /** Events that are left out. */
  readonly skips: readonly SkippedEvent[];
  /** Called with the number of records that were folded or skipped. */
  readonly foldedRecords: (count: number) => void;
}

export class ViewReplay {
  readonly table: TemporaryTable;
  readonly #needs: ViewReplayNeeds;
  readonly #fold: ViewFold;
  #stopped: ViewStopped | undefined;
  #isDamaged = false;

  constructor(needs: ViewReplayNeeds) {
    const { view, rows } = needs;
    this.#needs = needs;
    this.table = rows.table(view.stored, VIEW_LIMITS_DEFAULT);
    const limits = VIEW_LIMITS_DEFAULT;
    this.#fold = new ViewFold({ ...needs, writer: this.table, foldedTo: undefined, limits });
  }

  /** Why the view has stopped; undefined: it has not. */
  get stopped(): ViewStopped | undefined {
    return this.#stopped;
  }

  /** Whether the fold has ended before a damaged record. */
  get isDamaged(): boolean {
    return this.#isDamaged;
  }

  /** Position up to which the records are folded. */
  get position(): Position {
    return this.#fold.position;
  }

  /** Folds the records up to a position; without one, all. Rejects with the errors of the feed, except damage, and of the rows. */
  async to(position?: Position): Promise<void> {
    const { feed, foldedRecords } = this.#needs;
    try {
      for (;;) {
        const from = this.#fold.position;
        const left = position === undefined ? PAGE_RECORDS : feed.count(from, position);
        if (left === 0 || !(await this.#fold.step(Math.min(left, PAGE_RECORDS)))) return;
        foldedRecords(feed.count(from, this.#fold.position));
      }
    } catch (error) {
      if (error instanceof ViewStopped) this.#stopped = error;
      else if (error instanceof SvcError && error.code === 'SVC_JOURNAL_CORRUPT')
        this.#isDamaged = true;
      else throw error;
    }
  }
}
