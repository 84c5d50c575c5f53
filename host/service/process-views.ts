// ProcessViews are the views of an embedded service: they are folded in the thread of the program, in slices between which
// other work goes on, and are queried in the same thread.
import type { ServiceClock, WallClock } from '../engine/needs/clock.ts';
import type { Guest } from '@svc/model/guest';
import type { Feed } from '../engine/needs/feed.ts';
import type { SkippedEvent, ViewStore } from '../engine/needs/views.ts';
import type { SharedViewMemory } from '@svc/model/view';
import type { ViewLimits } from '@svc/model/view-limits';
import type { Log } from '@svc/kit/log';
import { systemClock } from '../system.ts';
import { SharedView } from '../views/shared-view.ts';
import { removeUnusedViews } from '../views/unused-views.ts';
import { declaredViews } from '../views/view-definitions.ts';
import { ViewFinder } from '../views/view-finder.ts';
import { type ProjectedView, ViewProjector } from '../views/view-projector.ts';
import type { ViewChange, ViewProblem } from '../views/view-report.ts';
import type { StoppedAt } from '../views/view-stopped.ts';
import { ViewStatuses } from './view-statuses.ts';

/** Records of a slice. */
const SLICE_RECORDS = 250;

export interface ProcessViewsNeeds {
  /** It has views. */
  readonly guest: Guest;
  readonly feed: Feed;
  readonly store: ViewStore;
  readonly limits: ViewLimits;
  readonly log: Log;
  /** Absent: the machine's. */
  readonly clock?: ServiceClock | undefined;
}

export class ProcessViews {
  readonly finder: ViewFinder;
  readonly #clock: WallClock;
  /** How the views fare. */
  readonly statuses: ViewStatuses;
  readonly #projector: ViewProjector;
  readonly #store: ViewStore;
  /** The views by their ids. */
  readonly #projected: ReadonlyMap<string, ProjectedView>;

  /** Begins to build and follow the views. */
  constructor({ guest, feed, store, limits, log, clock }: ProcessViewsNeeds) {
    this.#clock = clock ?? systemClock;
    this.#store = store;
    const { descriptor, fingerprint } = guest;
    const views = declaredViews(descriptor, fingerprint);
    const projected = views.map(({ folded }): ProjectedView => ({
      folded,
      shared: new SharedView(),
    }));
    this.#projected = new Map(projected.map((view) => [view.folded.id, view]));
    const shared = projected.map(({ folded, shared: view }): [string, SharedViewMemory] => [
      folded.id,
      view.memory,
    ]);
    this.finder = new ViewFinder({
      descriptor,
      views,
      shared: Object.fromEntries(shared),
      store,
      positions: feed,
      waitMs: limits.waitMs,
      clock,
    });
    const problems = new Map<string, ViewProblem>();
    const skipped = new Map<string, readonly SkippedEvent[]>();
    this.#projector = new ViewProjector({
      guest: guest.views!,
      feed,
      store,
      limits,
      pace: { rest: () => new Promise((resolve) => void setImmediate(resolve)) },
      pageSizes: { building: SLICE_RECORDS, following: SLICE_RECORDS, rowsInMemory: 0 },
      log,
      after: clock && ((...wait) => clock.after(...wait)),
      onProblem(view, problem) {
        if (problem === undefined) problems.delete(view);
        else problems.set(view, problem);
      },
      onSkips: (view, skips) => void skipped.set(view, skips),
    });
    this.statuses = new ViewStatuses({
      reports: () =>
        projected.map(({ folded: { id, stored }, shared: { state, position } }) => ({
          id,
          definition: stored.definition,
          state,
          position,
          problem: problems.get(id),
          skips: skipped.get(id) ?? [],
        })),
      declared: () => descriptor.views ?? [],
      openFeed: () => feed,
      nowMs: () => this.#clock.nowMs(),
    });
    for (const view of projected) void this.#projector.follow(view);
    // By then the views know which former rows they need. The machine's clock says when rows were used.
    setImmediate(() => void removeUnusedViews(store, projected, systemClock.nowMs(), log));
  }

  /** Does what `ViewThreads.rebuild` does. */
  async rebuild(id: string): Promise<ViewChange> {
    const view = this.#projected.get(id);
    if (view === undefined) return 'unknown-view';
    const begun = this.#projector.rebuild(view);
    if (begun === 'stopped') void this.#projector.follow(view);
    return begun === 'elsewhere' ? 'unavailable' : 'done';
  }

  /** Does what `ViewThreads.skip` does. */
  async skip(id: string, { entity, seq }: StoppedAt, reason: string): Promise<ViewChange> {
    const view = this.#projected.get(id);
    if (view === undefined) return 'unknown-view';
    const skip = { entity, seq, reason, timeMs: this.#clock.nowMs() };
    const outcome = await this.#projector.skip(view, skip);
    if (outcome === 'done') void this.#projector.follow(view);
    return outcome;
  }

  /** Ends after the slice that is being folded, and closes the feed and the store. */
  async close(): Promise<void> {
    await this.#projector.close();
    await this.#store.close();
  }
}
