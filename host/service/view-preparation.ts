// ViewPreparation builds the rows of a module's views before the module is served, also beside a service that runs on the data
// folder. It only reads the journal. A view that is being built by another process is left alone.
//
// Invariant: whenever it is interrupted, a later preparation or the service continues where the rows are.
import { SvcError } from '@svc/kit/svc-error';
import type { Feed, Position } from '../engine/needs/feed.ts';
import type { GuestViews } from '@svc/model/guest';
import type { ViewStore } from '../engine/needs/views.ts';
import type { GuestSource } from '../hosting/guest-source.ts';
import { startGuest } from '../hosting/start-guest.ts';
import { hasHost } from '../storage/journal-administration.ts';
import type { JournalLocation } from '../storage/journal-location.ts';
import { openEndedFeed } from '../storage/journal-reading.ts';
import { storedViews } from '../storage/stored-views.ts';
import type { FoldedView } from '../views/folded-view.ts';
import { declaredViews } from '../views/view-definitions.ts';
import { BUILT_TOGETHER_MAX, type BuildingPace, SharedBuilding } from '../views/shared-building.ts';
import { ViewFollower } from '../views/view-follower.ts';
import { ViewStopped } from '../views/view-stopped.ts';
import type { SettingsToRun } from './module-inspection.ts';

/**
 * - `built`: the rows have been built.
 * - `continued`: there were rows of this definition, to which the events were added that they lacked.
 * - `served`: a running service keeps rows of this definition up to date.
 */
export type PreparedState = 'built' | 'continued' | 'served';

export interface PreparedView {
  readonly view: string;
  readonly state: PreparedState;
  /** Number of rows; undefined for a view that is served. */
  readonly rows: number | undefined;
}

export interface PreparationQuestion {
  readonly source: GuestSource;
  readonly settings: SettingsToRun;
  readonly location: JournalLocation;
  /** Called with the number of records that are folded into a view, and the number of all records. */
  readonly onProgress?: (records: number, total: number) => void;
}

/**
 * Prepares a few views at a time, with one walk through the journal. One that fails ends the preparation after those that
 * are prepared with it. Throws SVC_VIEW_IN_USE if another process builds a view, SVC_VIEW_STOPPED if a view
 * cannot fold an event, SVC_VIEWS_FULL, SVC_DISK_FULL, SVC_MODULE_START_FAILED, SVC_JOURNAL_… and SVC_DATA_UNUSABLE.
 */
export async function* prepareViews(
  question: PreparationQuestion,
): AsyncGenerator<PreparedView, void> {
  const { source, settings, location } = question;
  const feed = await openEndedFeed(location);
  const store = await storedViews(location, settings.views);
  try {
    const guest = await startGuest(source, settings, () => {});
    try {
      const { descriptor, fingerprint } = source;
      // The process has nothing else to do, and a service beside it has.
      const pace = (await hasHost(location)) ? RESTING : YIELDING;
      const building = new SharedBuilding(feed, pace);
      const needs = { ...question, guest: guest.views!, store, feed, building };
      const waiting = declaredViews(descriptor, fingerprint).map(({ folded }) => folded);
      while (waiting.length > 0) {
        const group = waiting.splice(0, BUILT_TOGETHER_MAX);
        const outcomes = await Promise.allSettled(group.map((view) => prepared(view, needs)));
        for (const outcome of outcomes) if (outcome.status === 'fulfilled') yield outcome.value;
        for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
      }
    } finally {
      await guest.close();
    }
  } finally {
    feed.close();
    await store.close();
  }
}

interface PreparationNeeds extends PreparationQuestion {
  readonly guest: GuestViews;
  readonly store: ViewStore;
  readonly feed: Feed;
  readonly building: SharedBuilding;
}

async function prepared(view: FoldedView, needs: PreparationNeeds): Promise<PreparedView> {
  const { settings, feed, onProgress } = needs;
  const total = feed.count(feed.start, feed.end());
  const folded = (position: Position) => onProgress?.(feed.count(feed.start, position), total);
  const observer = { folded, building() {}, live() {} };
  let follower: ViewFollower;
  try {
    follower = await ViewFollower.open({ ...needs, view, limits: settings.views, observer });
  } catch (error) {
    if (!(await isServed(error, view, needs.store))) throw error;
    return { view: view.id, state: 'served', rows: undefined };
  }
  try {
    const state = follower.isLive ? 'continued' : 'built';
    await follower.complete(new AbortController().signal);
    return { view: view.id, state, rows: follower.rowCount };
  } catch (error) {
    throw error instanceof ViewStopped ? stopped(error) : error;
  } finally {
    follower.close();
  }
}

/** Whether the rows could not be opened because a service keeps them up to date. */
async function isServed(
  error: unknown,
  { stored }: FoldedView,
  store: ViewStore,
): Promise<boolean> {
  if (!(error instanceof SvcError) || error.code !== 'SVC_VIEW_IN_USE') return false;
  const reader = store.reader(stored);
  const { state } = await reader.status();
  reader.close();
  return state === 'live';
}

function stopped({ view, at: { entity, seq }, message, cause }: ViewStopped): SvcError {
  return new SvcError(
    'SVC_VIEW_STOPPED',
    `The view '${view}' stops at event ${seq} of ${entity.component}/${entity.id}: ${message}. ` +
      'Correct the code of the view. Nothing that is served has changed.',
    { cause },
  );
}

const pauseOf = (ms: number): Promise<void> =>
  new Promise((done) => {
    setTimeout(done, ms);
  });
const RESTING: BuildingPace = { rest: (tookMs) => pauseOf(tookMs) };
const YIELDING: BuildingPace = { rest: () => pauseOf(0) };
