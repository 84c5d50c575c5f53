// ViewInspection reads the views of a journal for a person, also while a host runs on it: how far they are, and the rows
// that a declared query finds. It knows the views of the module that has used the journal last, and runs no code of it.
import type { ModuleDescriptor } from '@svc/contract';
import { SvcError } from '@svc/kit/svc-error';
import type { Refusal } from '@svc/model/call';
import type { RowPage, RowQuery, SharedViewMemory } from '@svc/model/view';
import { VIEW_LIMITS_DEFAULT, type ViewLimits } from '@svc/model/view-limits';
import type { ViewStatus } from '@svc/model/view-status';
import type { Position, Positions } from '../engine/needs/feed.ts';
import type { SkippedEvent, StoredView, ViewStore } from '../engine/needs/views.ts';
import type { JournalLocation } from '../storage/journal-location.ts';
import type { JournalProgress } from '../storage/journal-progress.ts';
import { inspectProgress } from '../storage/journal-reading.ts';
import { inspectRows, storedViews } from '../storage/stored-views.ts';
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
  readonly #location: JournalLocation;
  readonly #limits: ViewLimits;
  /** Undefined until rows are found first. */
  #store: Promise<ViewStore> | undefined;

  /** Throws SVC_JOURNAL_MISSING, SVC_JOURNAL_NEWER, SVC_JOURNAL_CORRUPT and SVC_DATA_UNUSABLE. */
  constructor(location: JournalLocation, limits: ViewLimits = VIEW_LIMITS_DEFAULT) {
    this.#progress = inspectProgress(location);
    this.#location = location;
    this.#limits = limits;
  }

  /**
   * Returns the views, in the order of their declaration. Whether a view has stopped only its host knows. Rejects
   * with SVC_JOURNAL_….
   */
  async list(): Promise<readonly InspectedView[]> {
    const { descriptor, declared } = await this.#served();
    const positions = await this.#progress.positions();
    return Promise.all(
      declared.map(async (view, index) => ({
        status: await this.#statusOf(view, positions),
        sources: [...view.folded.sources],
        queries: descriptor.views![index]!.queries.map(({ name }) => name),
      })),
    );
  }

  /**
   * Finds rows by a declared query, as `HostCalls.find` does, but explains which views, queries and parameters there are. Rejects with SVC_VIEW_REBUILDING while there are no rows that
   * can be queried, and with SVC_VIEW_CORRUPT, SVC_DATA_UNUSABLE and SVC_JOURNAL_….
   */
  async find(query: RowQuery): Promise<RowPage | Refusal> {
    const { descriptor, declared } = await this.#served();
    const problem = askedQueryProblem(descriptor, query);
    if (problem !== undefined) return problem;
    const views = declared.filter(({ folded }) => folded.id === query.view);
    const positions = await this.#progress.positions();
    const shared = await Promise.all(
      views.map(async (view): Promise<[string, SharedViewMemory]> => {
        const { position = positions.start, state } = await this.#rowsOf(view);
        const memory = new SharedView();
        memory.foldedTo(position);
        // The rows that are there are queried, even if the view has stopped.
        memory.become(state === 'live' ? 'live' : 'building');
        return [view.folded.id, memory.memory];
      }),
    );
    this.#store ??= Promise.resolve(storedViews(this.#location, this.#limits));
    const finder = new ViewFinder({
      descriptor,
      views,
      shared: Object.fromEntries(shared),
      store: await this.#store,
      positions,
      waitMs: 0,
    });
    try {
      return await finder.find(query, undefined);
    } catch (error) {
      const isBuilding = error instanceof SvcError && error.code === 'SVC_VIEW_REBUILDING';
      // Without a host, nobody builds the rows.
      throw isBuilding && !(await this.#progress.isHosted()) ? viewNotBuilt(query.view) : error;
    } finally {
      finder.close();
    }
  }

  /** Returns what names the rows of a view; undefined if there is no such view. Rejects with SVC_JOURNAL_…. */
  async storedView(view: string): Promise<StoredView | undefined> {
    const { declared } = await this.#served();
    return declared.find(({ folded }) => folded.id === view)?.folded.stored;
  }

  /** Closes the journal; the next read opens it again. */
  close(): void {
    this.#progress.close();
    void this.#store?.then((store) => store.close());
  }

  async #served(): Promise<ServedViews> {
    const module = await this.#progress.lastModule();
    if (module === undefined) return { descriptor: NO_MODULE, declared: [] };
    // The host has checked the descriptor before it recorded it.
    const descriptor = JSON.parse(module.descriptor) as ModuleDescriptor;
    return { descriptor, declared: declaredViews(descriptor, module.fingerprint) };
  }

  async #rowsOf({ folded: { stored } }: DeclaredView): Promise<{
    readonly state: 'missing' | 'building' | 'live';
    /** Undefined: no event is folded. */
    readonly position?: Position | undefined;
    readonly skips: readonly SkippedEvent[];
    readonly reason?: string | undefined;
  }> {
    const { status, skips } = await inspectRows(this.#location, stored, this.#limits);
    return status.state === 'missing'
      ? { state: 'missing', skips, reason: status.reason }
      : { state: status.state, position: status.foldedTo?.position, skips };
  }

  async #statusOf(view: DeclaredView, positions: Positions): Promise<ViewStatus> {
    const { id, stored, sources } = view.folded;
    const { start } = positions;
    const { state, position = start, skips, reason } = await this.#rowsOf(view);
    const total = positions.count(start, positions.end());
    const lagRecords = positions.count(position, positions.end());
    const oldestMs =
      lagRecords === 0 ? undefined : await this.#progress.nextTimeMs(position, [...sources]);
    const lagMs = oldestMs === undefined ? 0 : Math.max(0, systemClock.nowMs() - oldestMs);
    return {
      view: id,
      definition: stored.definition,
      state,
      lagRecords,
      lagSeconds: lagMs / MS_PER_S,
      progress: total === 0 ? 1 : Math.min(1, positions.count(start, position) / total),
      problem: reason === undefined ? null : { code: null, reason, event: null },
      skipped: skippedEvents(skips),
    };
  }
}

const NO_MODULE = { entities: [], types: {} } as unknown as ModuleDescriptor;
