// ViewInspection reads the views in a data folder for a person, also while a host runs on it: how far they are, and the rows
// that a declared query finds. It knows the views of the module that has used the journal last, and runs no code of it.
import type { ModuleDescriptor } from '@svc/contract';
import { SvcError } from '@svc/kit/svc-error';
import type { Refusal } from '@svc/model/call';
import type { RowPage, RowQuery, SharedViewMemory } from '@svc/model/view';
import { VIEW_LIMITS_DEFAULT, type ViewLimits } from '@svc/model/view-limits';
import type { ViewStatus } from '@svc/model/view-status';
import type { Positions } from '../engine/needs/feed.ts';
import type { SkippedEvent, StoredView } from '../engine/needs/views.ts';
import { JournalProgress } from '../storage/sqlite/tools/journal-progress.ts';
import { FileViewReader } from '../storage/views/file-view-reader.ts';
import { FileViews } from '../storage/views/file-views.ts';
import { viewsFolder } from '../storage/views/view-file.ts';
import { systemClock } from '../system.ts';
import { SharedView } from '../views/shared-view.ts';
import { viewNotBuilt } from '../views/view-failures.ts';
import { skippedEvents } from '../views/view-report.ts';
import { type DeclaredView, declaredViews } from '../views/view-definitions.ts';
import { ViewFinder } from '../views/view-finder.ts';
import { askedQueryProblem } from './asked-query.ts';

const MS_PER_S = 1_000;

/** A view with its declaration. */
export interface InspectedView {
  readonly status: ViewStatus;
  readonly sources: readonly string[];
  readonly queries: readonly string[];
}

interface ServedViews {
  readonly descriptor: ModuleDescriptor;
  readonly declared: readonly DeclaredView[];
}

export class ViewInspection {
  readonly #progress: JournalProgress;
  readonly #store: FileViews;
  readonly #folder: string;
  readonly #limits: ViewLimits;

  /** Throws SVC_JOURNAL_MISSING, SVC_JOURNAL_NEWER, SVC_JOURNAL_CORRUPT and SVC_DATA_UNUSABLE. */
  constructor(dir: string, limits: ViewLimits = VIEW_LIMITS_DEFAULT) {
    this.#progress = new JournalProgress(dir);
    this.#store = new FileViews(dir, limits);
    this.#folder = viewsFolder(dir);
    this.#limits = limits;
  }

  /**
   * Returns the views, in the order of their declaration. Whether a view has stopped only its host knows. Throws
   * SVC_JOURNAL_….
   */
  list(): readonly InspectedView[] {
    const { descriptor, declared } = this.#served();
    const end = this.#progress.end();
    return declared.map((view, index) => ({
      status: this.#statusOf(view, end),
      sources: [...view.folded.sources],
      queries: descriptor.views![index]!.queries.map(({ name }) => name),
    }));
  }

  /**
   * Finds rows by a declared query, as `HostCalls.find` does, but explains which views, queries and parameters there are. Rejects with SVC_VIEW_REBUILDING while there are no rows that
   * can be queried, and with SVC_VIEW_CORRUPT, SVC_DATA_UNUSABLE and SVC_JOURNAL_….
   */
  async find(query: RowQuery): Promise<RowPage | Refusal> {
    const { descriptor, declared } = this.#served();
    const problem = askedQueryProblem(descriptor, query);
    if (problem !== undefined) return problem;
    const views = declared.filter(({ folded }) => folded.id === query.view);
    const shared = views.map((view): [string, SharedViewMemory] => {
      const { position, state } = this.#rowsOf(view);
      const memory = new SharedView();
      memory.foldedTo(String(position));
      // The rows that are there are queried, even if the view has stopped.
      memory.become(state === 'live' ? 'live' : 'building');
      return [view.folded.id, memory.memory];
    });
    const finder = new ViewFinder({
      descriptor,
      views,
      shared: Object.fromEntries(shared),
      store: this.#store,
      positions: positionsUpTo(this.#progress.end()),
      waitMs: 0,
    });
    try {
      return await finder.find(query, undefined);
    } catch (error) {
      const isBuilding = error instanceof SvcError && error.code === 'SVC_VIEW_REBUILDING';
      // Without a host, nobody builds the rows.
      throw isBuilding && !this.#progress.isHosted ? viewNotBuilt(query.view) : error;
    } finally {
      finder.close();
    }
  }

  /** Returns what names the rows of a view; undefined if there is no such view. Throws SVC_JOURNAL_…. */
  storedView(view: string): StoredView | undefined {
    return this.#served().declared.find(({ folded }) => folded.id === view)?.folded.stored;
  }

  /** Closes the journal; the next read opens it again. */
  close(): void {
    this.#progress.close();
  }

  #served(): ServedViews {
    const module = this.#progress.lastModule();
    if (module === undefined) return { descriptor: NO_MODULE, declared: [] };
    // The host has checked the descriptor before it recorded it.
    const descriptor = JSON.parse(module.descriptor) as ModuleDescriptor;
    return { descriptor, declared: declaredViews(descriptor, module.fingerprint) };
  }

  #rowsOf({ folded: { stored } }: DeclaredView): {
    readonly state: 'missing' | 'building' | 'live';
    readonly position: number;
    readonly skips: readonly SkippedEvent[];
    readonly reason?: string | undefined;
  } {
    const reader = new FileViewReader(this.#folder, stored, this.#limits);
    try {
      const status = reader.status();
      if (status.state === 'missing')
        return { state: 'missing', position: 0, skips: [], reason: status.reason };
      const position = Number(status.foldedTo?.position ?? 0);
      return { state: status.state, position, skips: reader.skips() };
    } finally {
      reader.close();
    }
  }

  #statusOf(view: DeclaredView, end: number): ViewStatus {
    const { id, stored, sources } = view.folded;
    const { state, position, skips, reason } = this.#rowsOf(view);
    const lagRecords = Math.max(0, end - position);
    const oldestMs =
      lagRecords === 0 ? undefined : this.#progress.nextTimeMs(position, [...sources]);
    const lagMs = oldestMs === undefined ? 0 : Math.max(0, systemClock.nowMs() - oldestMs);
    return {
      view: id,
      definition: stored.definition,
      state,
      lagRecords,
      lagSeconds: lagMs / MS_PER_S,
      progress: end === 0 ? 1 : Math.min(1, position / end),
      problem: reason === undefined ? null : { code: null, reason, event: null },
      skipped: skippedEvents(skips),
    };
  }
}

const NO_MODULE = { entities: [], types: {} } as unknown as ModuleDescriptor;

/** Returns the positions of a journal that is not followed. */
function positionsUpTo(end: number): Positions {
  return {
    start: '0',
    end: () => String(end),
    hasReached: (position, wanted) => Number(position) >= Number(wanted),
    count: (from, to) => Math.max(0, Number(to) - Number(from)),
    parse: () => undefined,
  };
}
