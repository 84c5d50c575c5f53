// ViewStatuses joins what the threads of a service's views report with how far the journal is.
import type { Awaitable } from '@svc/model/call';
import type { ViewDescriptor } from '@svc/contract';
import type { Feed, FeedPage, Position } from '../engine/needs/feed.ts';
import type { ViewStatus } from '@svc/model/view-status';
import { type FollowerConnection, openFeed } from '../storage/follower-connection.ts';
import { systemClock } from '../system.ts';
import { type ViewReport, skippedEvents } from '../views/view-report.ts';

const MS_PER_S = 1_000;
/** Records that are looked at for one of the view's sources. */
const LOOKED_AT_MAX = 100;

export interface ViewStatusesNeeds {
  readonly reports: () => readonly ViewReport[];
  /** Returns the views that are served. */
  readonly declared: () => readonly Pick<ViewDescriptor, 'id' | 'sources'>[];
  /** Opens a feed of the journal when it is needed first; returns undefined while the journal is not open. It may throw. */
  readonly openFeed: () => Feed | undefined;
  readonly nowMs: () => number;
}

/** The first event that a view lacks. */
interface FirstEvent {
  /** The position of the view for which it was found. */
  readonly from: Position;
  /** When it was recorded. */
  readonly timeMs: number;
  /** When it was found. */
  readonly atMs: number;
}

export class ViewStatuses {
  readonly #needs: ViewStatusesNeeds;
  #feed: Feed | undefined;
  /** The first event that each view lacks, as it was found last, indexed by view. */
  readonly #firsts = new Map<string, FirstEvent>();
  /** Ids of the views whose first event is being looked for. */
  readonly #looking = new Set<string>();

  constructor(needs: ViewStatusesNeeds) {
    this.#needs = needs;
  }

  /**
   * Returns the views in the order of their declaration; none while the journal is not open. Never throws: readiness and
   * metrics are answered whatever the journal is like.
   */
  read(): readonly ViewStatus[] {
    const reports = this.#needs.reports();
    const feed = reports.length === 0 ? undefined : this.#openedFeed();
    if (feed === undefined) return [];
    const declared = this.#needs.declared();
    return reports.map((report) => {
      const { sources = [] } = declared.find(({ id }) => id === report.id) ?? {};
      return this.#statusOf(report, feed, new Set(sources));
    });
  }

  #openedFeed(): Feed | undefined {
    try {
      return (this.#feed ??= this.#needs.openFeed());
    } catch {
      // Those who follow the journal report that it cannot be read.
      return undefined;
    }
  }

  close(): void {
    this.#feed?.close();
    this.#feed = undefined;
  }

  #statusOf(
    { id, definition, state, position, problem, skips }: ViewReport,
    feed: Feed,
    sources: ReadonlySet<string>,
  ): ViewStatus {
    const from = position === '' ? feed.start : position;
    const end = feed.end();
    const all = feed.count(feed.start, end);
    const lagRecords = feed.count(from, end);
    if (lagRecords === 0) this.#firsts.delete(id);
    return {
      view: id,
      definition,
      state: state === 'starting' ? 'missing' : state,
      lagRecords,
      lagSeconds: lagRecords === 0 ? 0 : this.#ageSeconds(id, feed, from, sources),
      progress: all === 0 ? 1 : 1 - lagRecords / all,
      problem:
        problem === undefined
          ? null
          : {
              code: problem.kind === 'stopped' ? 'SVC_VIEW_STOPPED' : (problem.code ?? null),
              reason: problem.reason,
              event:
                problem.kind === 'stopped' ? { ...problem.at.entity, seq: problem.at.seq } : null,
            },
      skipped: skippedEvents(skips),
    };
  }

  /**
   * Returns the age of the first event of the sources after a position; 0 if there is none, or it cannot be read. If the feed
   * answers later, it is the age of the event that was found last. Once the view is past that event, its age no longer grows.
   */
  #ageSeconds(view: string, feed: Feed, from: Position, sources: ReadonlySet<string>): number {
    if (!this.#looking.has(view)) this.#look(view, feed, from, sources);
    const first = this.#firsts.get(view);
    if (first === undefined) return 0;
    const untilMs = first.from === from ? this.#needs.nowMs() : first.atMs;
    return Math.max(0, untilMs - first.timeMs) / MS_PER_S;
  }

  #look(view: string, feed: Feed, from: Position, sources: ReadonlySet<string>): void {
    // A damaged record is reported by those who follow the journal.
    const failed = (): void => void this.#firsts.delete(view);
    const found = ({ records: [first] }: FeedPage): void => {
      if (first === undefined) return failed();
      const { timeMs } = first.record;
      this.#firsts.set(view, { from, timeMs, atMs: this.#needs.nowMs() });
    };
    try {
      const page = feed.read(from, LOOKED_AT_MAX, sources);
      if (!(page instanceof Promise)) {
        found(page);
        return;
      }
      this.#looking.add(view);
      void page.then(found, failed).finally(() => this.#looking.delete(view));
    } catch {
      failed();
    }
  }
}

/** Makes the statuses of views that threads fold. `connection`: may stay pending. */
export function followedViews({
  connection,
  ...needs
}: Pick<ViewStatusesNeeds, 'reports' | 'declared'> & {
  readonly connection: Promise<FollowerConnection>;
}): ViewStatuses {
  let followed: FollowerConnection | undefined;
  let feed: Awaitable<Feed> | undefined;
  void connection.then((found) => {
    followed = found;
  });
  const openedFeed = () => {
    feed ??= followed && openFeed(followed);
    if (!(feed instanceof Promise)) return feed;
    void feed.then((opened) => {
      feed = opened;
    });
    return undefined;
  };
  return new ViewStatuses({
    ...needs,
    openFeed: openedFeed,
    nowMs: () => systemClock.nowMs(),
  });
}
