// LocalService answers the requests of the observability endpoint: it asks the shards for spans and queries, and the
// history reader for stored entities and the source locations of faults. It runs no code of a module itself.
import type {
  DevState,
  Fault,
  FaultList,
  LiveNumbers,
  ModuleDescriptor,
  ServiceDescription,
  TraceDetail,
  TraceList,
  ViewList,
} from '@svc/contract';
import { type ObservedAnswer, problem, shown } from '@svc/kit/observed-answer';
import { entityIdProblem } from '../engine/entity-id.ts';
import { quoted } from '../engine/quoted.ts';
import type {
  EntityListQuery,
  EntityQuery,
  HistoryQuery,
  LaneQuery,
  ObservedService,
  TimerQuery,
  TraceFilter,
} from './observability/observed-service.ts';
import type { RecordedSpan } from '../shards/recorder/recorded-span.ts';
import type { LiveSamples } from './observability/live-samples.ts';
import { SpanWindow, type SpanView } from './observability/span-window.ts';
import { type TraceWithCursor, tracePage } from './observability/trace-page.ts';
import {
  faultOf,
  hasFailed,
  isoTime,
  shownFault,
  spanName,
  traceSummaries,
  traceTree,
} from './observability/trace-tree.ts';
import type { RowQuery } from '@svc/model/view';
import type { ViewStatus } from '@svc/model/view-status';
import type { MetricsSource } from './metrics-source.ts';
import type { LocatedFaults } from './located-faults.ts';
import type { HistoryReader } from '../history/reader/history-reader.ts';
import { errorAnswer, faultAnswer, outcomeAnswer } from './query-answers.ts';
import type { ShardEnding } from '../shards/shard-ends.ts';
import type { ServiceShards } from './service-shards.ts';
import type { ServiceView } from './service-view.ts';

/** Time limit for a shard to send its spans. It is short, because clients ask again soon. */
const SPANS_TIMEOUT_MS = 1_000;
const QUERY_TIMEOUT_MAX_MS = 5_000;
/**
 * Maximum number of spans in the window, even if svc.observability.ring-capacity is larger: a request for traces
 * searches all of them.
 */
const WINDOW_SPANS_MAX = 100_000;
/** Input of a query without one, as the SDKs send it. */
const NO_INPUT = 'null';

/** The module that is served. `svc dev` replaces it by later ones. */
export interface ShownModule {
  readonly description: ServiceDescription;
  readonly descriptor: ModuleDescriptor;
  readonly openApi: object;
}

export interface LocalParts {
  readonly shards: Pick<ServiceShards, 'ask' | 'count' | 'numbers' | 'ends' | 'ownership'>;
  readonly history: Pick<HistoryReader, 'ask'>;
  readonly faults: LocatedFaults;
  readonly live: Pick<LiveSamples, 'seconds'>;
  readonly metrics: Pick<MetricsSource, 'totals'>;
  readonly views: { read(): readonly ViewStatus[] };
  /** Maximum number of spans in the window, of all shards together. */
  readonly ringCapacity: number;
  readonly answerTimeoutMs: number;
  readonly dev?: (() => DevState) | undefined;
  readonly process?: ServiceView['process'];
}

export class LocalService implements ObservedService {
  readonly #parts: LocalParts;
  readonly #window: SpanWindow;
  #module: ShownModule;
  #nameOf: (span: RecordedSpan) => string;
  /** Traces of the view for which they were made last. */
  #traces:
    | { readonly view: SpanView; readonly newestFirst: readonly TraceWithCursor[] }
    | undefined;

  constructor(parts: LocalParts, module: ShownModule) {
    const { shards, ringCapacity } = parts;
    this.#parts = parts;
    this.#module = module;
    this.#nameOf = spanName(module.description.routes);
    this.#window = new SpanWindow(
      {
        shards: shards.count,
        pull: async (shard, after, limit) =>
          shards.ask(shard, { kind: 'spans', after, limit }, SPANS_TIMEOUT_MS),
      },
      Math.min(ringCapacity, WINDOW_SPANS_MAX),
    );
  }

  /** Shows another module from now on. */
  show(module: ShownModule): void {
    this.#module = module;
    this.#nameOf = spanName(module.description.routes);
    this.#traces = undefined;
  }

  service(): ServiceDescription {
    const { description } = this.#module;
    const code = this.#parts.process?.();
    if (code === undefined) return description;
    const { address, sdk } = code;
    return { ...description, codeProcess: { address, sdk, problem: code.problem ?? null } };
  }

  openApi(): object {
    return this.#module.openApi;
  }

  dev(): DevState | undefined {
    return this.#parts.dev?.();
  }

  live(): LiveNumbers {
    const { live, metrics } = this.#parts;
    return { at: isoTime(Date.now()), seconds: [...live.seconds], totals: metrics.totals() };
  }

  async traces(filter: TraceFilter): Promise<TraceList> {
    const view = await this.#window.latest();
    return {
      ...tracePage(view.spans, this.#tracesOf(view), filter),
      window: {
        capacity: this.#parts.ringCapacity,
        recorded: this.#parts.shards.numbers.reduce((sum, { window }) => sum + window.recorded, 0),
      },
      silentShards: [...view.silentShards],
    };
  }

  async trace(traceId: string): Promise<TraceDetail | undefined> {
    const { spans, silentShards } = await this.#window.latest();
    const ofTrace = spans.filter((span) => span.traceId === traceId);
    if (ofTrace.length === 0) return undefined;
    await this.#parts.faults.find(ofTrace);
    const { startMs, durationMs, roots, moreSpans, remoteParent } = traceTree(ofTrace, (fault) =>
      this.#parts.faults.locationsOf(fault),
    );
    return {
      traceId,
      startedAt: isoTime(startMs),
      durationMs,
      roots,
      moreSpans,
      remoteParent,
      silentShards: [...silentShards],
    };
  }

  async faults(limit: number): Promise<FaultList> {
    const { spans, silentShards } = await this.#window.latest();
    const failed = spans
      .filter(({ outcome, fault }) => fault !== undefined && hasFailed(outcome))
      .toSorted((a, b) => b.startMs + b.durationMs - (a.startMs + a.durationMs))
      .slice(0, limit);
    const { faults, shards } = this.#parts;
    await faults.find(failed);
    const ofSpans = failed.map((span) =>
      faultOf(span, span.fault!, faults.locationsOf(span.fault!)),
    );
    const latest = [...shards.ends.map(endOfShard), ...ofSpans];
    return {
      faults: latest.toSorted((a, b) => (a.at === b.at ? 0 : a.at < b.at ? 1 : -1)).slice(0, limit),
      silentShards: [...silentShards],
    };
  }

  /** Runs a query. Commands are refused, so nothing can be changed. */
  async query({ component, id, method, input = NO_INPUT }: EntityQuery): Promise<ObservedAnswer> {
    const { shards, faults, answerTimeoutMs } = this.#parts;
    const { descriptor } = this.#module;
    const entity = descriptor.entities.find((one) => one.component === component);
    if (entity === undefined)
      return problem(404, `The service has no component ${quoted(component)}.`);
    if (entity.commands.some(({ name }) => name === method))
      return problem(
        405,
        `${quoted(method)} is a command, not a query. Commands go through routes.`,
      );
    if (!entity.queries.some(({ name }) => name === method))
      return problem(404, `The component ${quoted(component)} has no query ${quoted(method)}.`);
    const why = idProblem(id);
    if (why !== undefined) return problem(400, why);
    const timeoutMs = Math.min(answerTimeoutMs, QUERY_TIMEOUT_MAX_MS);
    try {
      const answer = await shards.ask(
        shards.ownership.ownerOf(component, id),
        { kind: 'query', target: { component, id }, name: method, input },
        timeoutMs,
      );
      if (answer.kind === 'outcome') return outcomeAnswer(answer.outcome);
      const { fault, isLate } = answer;
      await faults.find([{ kind: 'query', component, handler: method, startMs: Infinity, fault }]);
      return faultAnswer(shownFault(fault, faults.locationsOf(fault)), isLate);
    } catch (failure) {
      return errorAnswer(failure);
    }
  }

  async entities(query: EntityListQuery): Promise<ObservedAnswer> {
    try {
      const { list } = await this.#parts.history.ask({ kind: 'entities', ...query });
      return shown(list);
    } catch (failure) {
      return errorAnswer(failure);
    }
  }

  async history(query: HistoryQuery): Promise<ObservedAnswer> {
    const why = idProblem(query.id);
    if (why !== undefined) return problem(400, why);
    try {
      const { page } = await this.#parts.history.ask({ kind: 'history', ...query });
      return shown(page);
    } catch (failure) {
      return errorAnswer(failure);
    }
  }

  async timers(query: TimerQuery): Promise<ObservedAnswer> {
    return this.#asked(async () => {
      const { list } = await this.#parts.history.ask({ kind: 'timers', ...query });
      return shown(list);
    });
  }

  views(): ViewList {
    const { views = [] } = this.#module.descriptor;
    return {
      views: this.#parts.views.read().map(({ skipped, ...status }) => {
        const declared = views.find(({ id }) => id === status.view);
        return {
          ...status,
          skipped: skipped.map(({ timeMs, ...event }) => ({ ...event, time: isoTime(timeMs) })),
          sources: [...(declared?.sources ?? [])],
          queries: (declared?.queries ?? []).map(({ name, where, parameters }) =>
            parameters === undefined ? { name, where } : { name, where, parameters },
          ),
        };
      }),
    };
  }

  async rows(query: RowQuery): Promise<ObservedAnswer> {
    return this.#asked(async () => {
      const { found } = await this.#parts.history.ask({ kind: 'rows', query });
      return 'kind' in found ? outcomeAnswer(found) : shown(found);
    });
  }

  async consumers(): Promise<ObservedAnswer> {
    return this.#asked(async () => {
      const { list } = await this.#parts.history.ask({ kind: 'consumers' });
      return shown(list);
    });
  }

  async lanes(query: LaneQuery): Promise<ObservedAnswer> {
    return this.#asked(async () => {
      const { list } = await this.#parts.history.ask({ kind: 'lanes', ...query });
      return shown(list);
    });
  }

  async #asked(answer: () => Promise<ObservedAnswer>): Promise<ObservedAnswer> {
    try {
      return await answer();
    } catch (failure) {
      return errorAnswer(failure);
    }
  }

  #tracesOf(view: SpanView): readonly TraceWithCursor[] {
    if (this.#traces?.view !== view) {
      const starts = new Map<string, number>();
      for (const { traceId, startMs } of view.spans)
        starts.set(traceId, Math.min(startMs, starts.get(traceId) ?? Infinity));
      const newestFirst = traceSummaries(view.spans, this.#nameOf)
        .map((trace) => ({ trace, cursor: cursorOf(starts.get(trace.traceId)!, trace.traceId) }))
        .toSorted((a, b) => (a.cursor < b.cursor ? 1 : -1));
      this.#traces = { view, newestFirst };
    }
    return this.#traces.newestFirst;
  }
}

/** Returns a text that sorts as the traces do: by their start, then by their id. */
function cursorOf(startMs: number, traceId: string): string {
  return `${startMs.toFixed(3).padStart(17, '0')}/${traceId}`;
}

/** Returns the reason why an id in a request is invalid. Ids in the paths of routes are checked the same way. */
function idProblem(id: string): string | undefined {
  if (id === '.' || id === '..') return 'An id in a path cannot be . or ..: clients leave it out.';
  const why = entityIdProblem(id);
  return why === undefined ? undefined : `The entity id ${quoted(id)} ${why}.`;
}

/** Makes a fault without a handler and a trace for the end of a shard, whose requests in flight were lost. */
function endOfShard({ atMs, shard, reason }: ShardEnding): Fault {
  return {
    at: isoTime(atMs),
    traceId: null,
    component: '',
    handler: '',
    entityId: null,
    outcome: 'Failed',
    fault: {
      code: 'SVC_SHARD_FAILED',
      limit: null,
      reason: `shard ${shard}: ${reason}`,
      guestMessage: null,
      places: [],
      errorId: null,
    },
  };
}
