// ViewProjector keeps views up to date in one thread. Each view follows the feed by itself: one that is slow, or has stopped,
// delays no other view.
//
// Invariants
// J1  A view that has stopped is reported once, and is not folded again by this projector.
// J2  After any other failure the view is opened again, after a pause that grows up to a minute.
import { SvcError } from '@svc/kit/svc-error';
import type { LogEntry } from '@svc/kit/log-entry';
import type { GuestViews } from '../engine/needs/guest.ts';
import type { Feed } from '../engine/needs/feed.ts';
import type { ViewStore } from '../engine/needs/views.ts';
import { GuestFault } from '../model/guest-fault.ts';
import type { ViewLimits } from '../model/view-limits.ts';
import type { FoldedView } from './folded-view.ts';
import type { SharedView } from './shared-view.ts';
import { type BuildingPace, type PageSizes, ViewFollower } from './view-follower.ts';
import { ViewStopped } from './view-stopped.ts';

const PAUSE_MIN_MS = 1_000;
const PAUSE_MAX_MS = 60_000;

export interface ProjectedView {
  readonly folded: FoldedView;
  readonly shared: SharedView;
}

export interface ProjectorNeeds {
  readonly guest: GuestViews;
  readonly feed: Feed;
  readonly store: ViewStore;
  readonly limits: Pick<ViewLimits, 'keyBytesMax'>;
  readonly pace: BuildingPace;
  readonly pageSizes?: PageSizes;
  readonly log: (entry: LogEntry) => void;
}

/** How the work on a view has ended. `closed`: the projector was closed. */
export type ProjectionEnd = 'live' | 'to-build' | 'stopped' | 'closed';

export class ViewProjector {
  readonly #needs: ProjectorNeeds;
  readonly #closing = new AbortController();
  readonly #underWay = new Set<Promise<unknown>>();

  constructor(needs: ProjectorNeeds) {
    this.#needs = needs;
  }

  /** Builds the rows of a view, unless they are there. Resolves with `live` once they are. Never rejects. */
  build(view: ProjectedView): Promise<ProjectionEnd> {
    return this.#kept(view, async (follower) => {
      await this.#build(view, follower);
      return 'live';
    });
  }

  /**
   * Folds the events of a view as they are stored, after it has built the rows if there are none. If that takes more than
   * `recordsMax` records, it resolves with `to-build` instead. Never rejects.
   */
  follow(view: ProjectedView, recordsMax = Infinity): Promise<ProjectionEnd> {
    const { shared } = view;
    return this.#kept(view, async (follower) => {
      if (!follower.isLive && follower.recordsLeft > recordsMax) {
        shared.foldedTo(follower.position);
        return 'to-build';
      }
      await this.#build(view, follower);
      if (this.#isClosing) return 'closed';
      shared.foldedTo(follower.position);
      shared.clearDamage();
      shared.become('live');
      const damage = new AbortController();
      void shared.damaged().then(() => damage.abort());
      await follower.follow(AbortSignal.any([this.#closing.signal, damage.signal]));
      if (this.#isClosing) return 'closed';
      throw new SvcError('SVC_VIEW_CORRUPT', 'A query has found a damaged row.');
    });
  }

  /** Stops after the events that are being folded, and closes the feed. */
  async close(): Promise<void> {
    this.#closing.abort();
    // A follower that waits for the next record waits no longer.
    this.#needs.feed.close();
    await Promise.all(this.#underWay);
  }

  get #isClosing(): boolean {
    return this.#closing.signal.aborted;
  }

  async #build(view: ProjectedView, follower: ViewFollower): Promise<void> {
    if (follower.isLive) return;
    await follower.build(this.#closing.signal);
    if (this.#isClosing) return;
    const { folded, shared } = view;
    shared.become('live');
    const fields = { view: folded.id, rows: follower.rowCount };
    this.#needs.log({ level: 'info', message: 'the view is built', fields });
  }

  #kept(
    view: ProjectedView,
    work: (follower: ViewFollower) => Promise<ProjectionEnd>,
  ): Promise<ProjectionEnd> {
    const kept = this.#attempts(view, work);
    this.#underWay.add(kept);
    void kept.then(() => this.#underWay.delete(kept));
    return kept;
  }

  async #attempts(
    view: ProjectedView,
    work: (follower: ViewFollower) => Promise<ProjectionEnd>,
  ): Promise<ProjectionEnd> {
    const failures = new FailurePauses();
    let areDamaged = false;
    while (!this.#isClosing) {
      try {
        const follower = await this.#opened(view, areDamaged, () => failures.ended());
        areDamaged = false;
        try {
          return await work(follower);
        } finally {
          follower.close();
        }
      } catch (error) {
        if (this.#isClosing) break;
        if (error instanceof ViewStopped) return this.#stopped(view, error);
        areDamaged = error instanceof SvcError && error.code === 'SVC_VIEW_CORRUPT';
        await this.#pauseAfter(error, view, failures);
      }
    }
    return 'closed';
  }

  #opened(
    { folded, shared }: ProjectedView,
    areDamaged: boolean,
    hasFolded: () => void,
  ): Promise<ViewFollower> {
    const { log, ...needs } = this.#needs;
    return ViewFollower.open({
      ...needs,
      view: folded,
      areDamaged,
      observer: {
        folded(position) {
          shared.foldedTo(position);
          hasFolded();
        },
        building(reason) {
          shared.foldedTo('');
          shared.become('building');
          if (reason === undefined) return;
          const fields = { view: folded.id, reason };
          log({ level: 'warn', message: 'the rows of the view are built again', fields });
        },
        live() {},
      },
    });
  }

  #stopped({ folded, shared }: ProjectedView, stopped: ViewStopped): ProjectionEnd {
    shared.become('stopped');
    const { entity, seq } = stopped.at;
    const { cause } = stopped;
    const guestMessage = cause instanceof GuestFault ? cause.guestMessage : undefined;
    this.#needs.log({
      level: 'error',
      message: 'the view has stopped at an event',
      fields: {
        code: 'SVC_VIEW_STOPPED',
        view: folded.id,
        component: entity.component,
        entity: entity.id,
        event: seq,
        reason: stopped.message,
        ...(guestMessage === undefined ? {} : { guestMessage }),
      },
    });
    return 'stopped';
  }

  async #pauseAfter(
    error: unknown,
    { folded }: ProjectedView,
    failures: FailurePauses,
  ): Promise<void> {
    const reason = reasonOf(error);
    const { pauseMs, isNew } = failures.next(reason);
    if (isNew)
      this.#needs.log({
        level: 'error',
        message: 'the view cannot be kept up to date, and is tried again',
        fields: {
          ...(error instanceof SvcError ? { code: error.code } : {}),
          view: folded.id,
          reason,
        },
      });
    const { signal } = this.#closing;
    await new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, pauseMs);
      signal.addEventListener('abort', end);
    });
  }
}

/** Pauses that double while failures follow one another. */
class FailurePauses {
  #pauseMs = PAUSE_MIN_MS;
  #lastReason: string | undefined;

  /** `isNew`: the failure is another one than the last. */
  next(reason: string): { readonly pauseMs: number; readonly isNew: boolean } {
    const pauseMs = this.#pauseMs;
    const isNew = reason !== this.#lastReason;
    this.#lastReason = reason;
    this.#pauseMs = Math.min(pauseMs * 2, PAUSE_MAX_MS);
    return { pauseMs, isNew };
  }

  /** Called when there was no failure. */
  ended(): void {
    this.#pauseMs = PAUSE_MIN_MS;
    this.#lastReason = undefined;
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
