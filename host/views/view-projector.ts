// ViewProjector keeps views up to date in one thread. Each view follows the feed by itself: one that is slow, or has stopped,
// delays no other view.
//
// Invariants
// J1  A view that has stopped is reported once. It is folded again when the event was skipped, or its rows are to be built again.
// J2  While another node writes the rows of a view, this one watches how far they are, and tries to write them about once a second.
// J3  A rebuild that an operator has asked for takes the rows from another node that writes them, which watches them from then on.
// J4  After any other failure the view is opened again, after a pause that grows up to a minute.
import { after } from '@svc/kit/after';
import { SvcError } from '@svc/kit/svc-error';
import type { LogEntry } from '@svc/kit/log-entry';
import type { ServiceClock } from '../engine/needs/clock.ts';
import type { GuestViews } from '@svc/model/guest';
import type { Feed } from '../engine/needs/feed.ts';
import { SKIPS_MAX, type SkippedEvent, type ViewStore } from '../engine/needs/views.ts';
import type { ViewLimits } from '@svc/model/view-limits';
import { FailurePauses } from './failure-pauses.ts';
import type { FoldedView } from './folded-view.ts';
import { formerRows } from './former-rows.ts';
import { ProjectionLog } from './projection-log.ts';
import type { SharedView } from './shared-view.ts';
import { type BuildingPace, type PageSizes, SharedBuilding } from './shared-building.ts';
import { type FollowerNeeds, type FollowLimits, ViewFollower } from './view-follower.ts';
import type { ViewChange, ViewProblem } from './view-report.ts';
import { watchView } from './watched-view.ts';
import { type RowsAtStop, ViewStopped, isStoppedAt } from './view-stopped.ts';

export interface ProjectedView {
  readonly folded: FoldedView;
  readonly shared: SharedView;
}

export interface ProjectorNeeds {
  readonly guest: GuestViews;
  readonly feed: Feed;
  readonly store: ViewStore;
  readonly limits: FollowLimits & Pick<ViewLimits, 'groupMs'>;
  readonly pace: BuildingPace;
  readonly pageSizes?: PageSizes;
  readonly log: (entry: LogEntry) => void;
  /** Receives the reason why a view does not follow the events, and undefined once it does again. */
  readonly onProblem?: (view: string, problem: ViewProblem | undefined) => void;
  /** How it pauses after a failure; default: by the machine's clock. */
  readonly after?: ServiceClock['after'] | undefined;
  /** Receives the events that a view leaves out, when it is opened and when they change. */
  readonly onSkips?: (view: string, skips: readonly SkippedEvent[]) => void;
}

/** Rows that are built again. */
type Discarding = Pick<FollowerNeeds, 'discard' | 'takesOver'>;

type Work = (follower: ViewFollower, signal: AbortSignal) => Promise<ProjectionEnd>;

/** How the work on a view has ended. `closed`: the projector was closed. `elsewhere`: another node writes the rows. */
export type ProjectionEnd = 'live' | 'to-build' | 'stopped' | 'closed' | 'elsewhere';

export class ViewProjector {
  readonly #needs: ProjectorNeeds;
  readonly #log: ProjectionLog;
  readonly #building: SharedBuilding;
  readonly #closing = new AbortController();
  readonly #underWay = new Set<Promise<unknown>>();
  /** How views have stopped, by their ids. */
  readonly #stops = new Map<string, ViewStopped>();
  /** Interrupt the work on the views that are under way, by their ids. */
  readonly #interrupts = new Map<string, AbortController>();
  /** Ids of the views whose rows are to be built again. */
  readonly #toRebuild = new Set<string>();

  constructor(needs: ProjectorNeeds) {
    this.#needs = needs;
    this.#log = new ProjectionLog(needs);
    this.#building = new SharedBuilding(needs.feed, needs.pace, needs.pageSizes);
  }

  /**
   * Builds the rows of a view, unless they are there. Resolves with `live` once they are, and with `elsewhere` if another node writes
   * them. Never rejects.
   */
  build(view: ProjectedView): Promise<ProjectionEnd> {
    const build: Work = async (follower, signal) => {
      await this.#build(view, follower, signal);
      return signal.aborted ? 'closed' : 'live';
    };
    return this.#kept(view, build, 'elsewhere');
  }

  /**
   * Folds the events of a view as they are stored, after it has built the rows if there are none. If that takes more than
   * `recordsMax` records, it resolves with `to-build` instead. Never rejects.
   */
  follow(view: ProjectedView, recordsMax = Infinity): Promise<ProjectionEnd> {
    const { shared } = view;
    return this.#kept(view, async (follower, signal) => {
      if (!follower.isLive && follower.recordsLeft > recordsMax) {
        shared.foldedTo(follower.position);
        return 'to-build';
      }
      await this.#build(view, follower, signal);
      if (signal.aborted) return 'closed';
      shared.foldedTo(follower.position);
      shared.clearDamage();
      becomeLive(shared);
      const damage = new AbortController();
      const ended = new AbortController();
      void shared.damaged(ended.signal).then((isDamaged) => isDamaged && damage.abort());
      try {
        await follower.follow(AbortSignal.any([signal, damage.signal]));
      } finally {
        ended.abort();
      }
      if (signal.aborted) return 'closed';
      throw new SvcError('SVC_VIEW_CORRUPT', 'A query has found a damaged row.');
    });
  }

  /**
   * Leaves the event at which a view has stopped out of its rows. The caller lets the view be folded again. Rejects
   * with the errors of `ViewStore.openWriter` and `ViewWriter.skip`; then the view is where it was.
   */
  async skip({ folded }: ProjectedView, event: SkippedEvent): Promise<ViewChange> {
    const stopped = this.#stops.get(folded.id);
    if (stopped === undefined || !isStoppedAt(stopped.at, event)) return 'not-stopped-there';
    // Nobody else skips it meanwhile.
    this.#stops.delete(folded.id);
    try {
      const writer = await this.#needs.store.openWriter(folded.stored);
      try {
        if (writer.skips.length >= SKIPS_MAX) {
          this.#stops.set(folded.id, stopped);
          return 'too-many';
        }
        await writer.skip(event);
        this.#needs.onSkips?.(folded.id, writer.skips);
      } finally {
        writer.close();
      }
    } catch (error) {
      this.#stops.set(folded.id, stopped);
      throw error;
    }
    this.#log.recovered(folded.id);
    this.#log.leftOut(folded.id, event);
    return 'done';
  }

  /**
   * Builds the rows of a view again. Returns `under-way` if that has begun, `stopped` if the caller has to let the view be
   * folded, because it had stopped, and `elsewhere` if the view is not with this projector.
   */
  rebuild(view: ProjectedView): 'under-way' | 'stopped' | 'elsewhere' {
    const interrupt = this.#interrupts.get(view.folded.id);
    const hadStopped = this.passed(view);
    if (interrupt === undefined && !hadStopped) return 'elsewhere';
    this.#toRebuild.add(view.folded.id);
    interrupt?.abort();
    return hadStopped ? 'stopped' : 'under-way';
  }

  /** Returns the rows of a view that has stopped; undefined: it has not. */
  stoppedRows({ folded: { id } }: ProjectedView): RowsAtStop | undefined {
    return this.#stops.get(id)?.rows;
  }

  /** Forgets where a view has stopped. Returns whether it had; then the caller lets it be folded again. */
  passed({ folded: { id } }: ProjectedView): boolean {
    const hadStopped = this.#stops.delete(id);
    if (hadStopped) this.#log.recovered(id);
    return hadStopped;
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

  async #build(view: ProjectedView, follower: ViewFollower, signal: AbortSignal): Promise<void> {
    if (follower.isLive) return;
    await follower.build(signal);
    if (signal.aborted) return;
    const { folded, shared } = view;
    becomeLive(shared);
    this.#log.built(folded.id, follower.rowCount);
  }

  /** `whenInUse`: how the work ends if another node writes the rows; undefined: it watches them meanwhile. */
  #kept(view: ProjectedView, work: Work, whenInUse?: ProjectionEnd): Promise<ProjectionEnd> {
    const kept = this.#attempts(view, work, whenInUse);
    this.#underWay.add(kept);
    return kept.then((end) => {
      this.#underWay.delete(kept);
      return end;
    });
  }

  async #attempts(
    view: ProjectedView,
    work: Work,
    whenInUse: ProjectionEnd | undefined,
  ): Promise<ProjectionEnd> {
    const { id } = view.folded;
    const failures = new FailurePauses();
    let again: Discarding | undefined;
    while (!this.#isClosing) {
      if (this.#toRebuild.delete(id))
        again = { discard: 'an operator has asked for it', takesOver: true };
      const interrupt = new AbortController();
      this.#interrupts.set(id, interrupt);
      const signal = AbortSignal.any([this.#closing.signal, interrupt.signal]);
      try {
        const follower = await this.#opened(view, again, () => this.#ended(id, failures));
        again = undefined;
        try {
          const end = await work(follower, signal);
          if (!interrupt.signal.aborted) return end;
        } finally {
          follower.close();
        }
      } catch (error) {
        if (this.#isClosing) break;
        if (error instanceof ViewStopped) return this.#stopped(view, error);
        if (error instanceof SvcError && error.code === 'SVC_VIEW_IN_USE') {
          if (whenInUse !== undefined) return whenInUse;
          again = undefined;
          await this.#watch(view, signal);
          this.#ended(id, failures);
          continue;
        }
        if (error instanceof SvcError && error.code === 'SVC_VIEW_CORRUPT')
          again = { discard: 'they are damaged' };
        await this.#pauseAfter(error, view, failures, signal);
      } finally {
        this.#interrupts.delete(id);
      }
    }
    return 'closed';
  }

  /** Lets the queries of this node read the rows that another node writes. */
  #watch({ folded, shared }: ProjectedView, signal: AbortSignal): Promise<void> {
    const { store, after: afterMs = after } = this.#needs;
    return watchView(store.reader(folded.stored), shared, signal, afterMs);
  }

  /** Called when the view follows without a failure. */
  #ended(view: string, failures: FailurePauses): void {
    if (failures.ended()) this.#log.recovered(view);
  }

  async #opened(
    { folded, shared }: ProjectedView,
    again: Discarding | undefined,
    hasFolded: () => void,
  ): Promise<ViewFollower> {
    const { onSkips, guest, feed, store, limits, log: write } = this.#needs;
    const log = this.#log;
    const follower = await ViewFollower.open({
      guest,
      feed,
      store,
      limits,
      building: this.#building,
      view: folded,
      ...again,
      gathered: limits.groupMs > 0 ? (signal) => this.#gathered(shared, signal) : undefined,
      observer: {
        folded(position, _rowCount, isStored) {
          shared.foldedTo(position);
          if (isStored) hasFolded();
        },
        setBack: (position) => shared.foldedTo(position),
        async building(reason) {
          shared.foldedTo('');
          // The rows that have answered queries until now are gone.
          if (shared.state !== 'starting') shared.become('building');
          shared.answerWith(await formerRows(folded, feed, store, write));
          shared.become('building');
          if (reason !== undefined) log.builtAgain(folded.id, reason);
        },
        live: hasFolded,
        paused(isPaused) {
          shared.pause(isPaused);
          log.paused(folded.id, isPaused);
        },
        large: (key) => log.large(folded.id, key),
      },
    });
    onSkips?.(folded.id, follower.skips);
    return follower;
  }

  /** Resolves after the time in which events are gathered, or once a reader waits for them. */
  async #gathered(shared: SharedView, signal: AbortSignal): Promise<void> {
    const { limits, after: afterMs = after } = this.#needs;
    const over = new AbortController();
    const cancel = afterMs(limits.groupMs, () => over.abort());
    await shared.hurried(AbortSignal.any([signal, over.signal]));
    cancel();
  }

  #stopped({ folded, shared }: ProjectedView, stopped: ViewStopped): ProjectionEnd {
    shared.become('stopped');
    this.#stops.set(folded.id, stopped);
    this.#log.stopped(folded.id, stopped);
    return 'stopped';
  }

  async #pauseAfter(
    error: unknown,
    { folded }: ProjectedView,
    failures: FailurePauses,
    signal: AbortSignal,
  ): Promise<void> {
    const reason = reasonOf(error);
    const { pauseMs, isNew } = failures.next(reason);
    if (isNew) this.#log.failing(folded.id, error, reason);
    // An operator has asked for a rebuild meanwhile.
    if (signal.aborted) return;
    await new Promise<void>((resolve) => {
      const end = () => {
        cancel();
        signal.removeEventListener('abort', end);
        resolve();
      };
      const cancel = (this.#needs.after ?? after)(pauseMs, end);
      signal.addEventListener('abort', end);
    });
  }
}

/** Lets queries be answered from the view's own rows. */
function becomeLive(shared: SharedView): void {
  shared.become('live');
  shared.answerWith('');
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
