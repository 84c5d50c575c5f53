// ObservedService: the interface through which the observability endpoint reads a service.
import type {
  DevState,
  FaultList,
  LiveNumbers,
  Outcome,
  ServiceDescription,
  TraceDetail,
  TraceList,
  ViewList,
} from '@svc/contract';
import type { ObservedAnswer } from '@svc/kit/observed-answer';
import type { EntityRef } from '@svc/model/entity';
import type { RowQuery } from '@svc/model/view';

export interface TraceFilter {
  readonly limit: number;
  /** Only traces with a span of this component; undefined: any. */
  readonly component: string | undefined;
  /** Outcomes of the first span; undefined: any. */
  readonly outcomes: ReadonlySet<Outcome> | undefined;
  readonly minDurationMs: number;
  /**
   * Text in the trace's name or id, or in a span's name, entity id, reason or guest message, in any case of its
   * letters; undefined or only spaces: any.
   */
  readonly text: string | undefined;
  /** Cursor: `next` or `previous` of another page. */
  readonly after: string | undefined;
}

export interface EntityQuery {
  readonly component: string;
  readonly id: string;
  readonly method: string;
  /** JSON text; undefined if there is no input. */
  readonly input: string | undefined;
}

export interface EntityListQuery {
  readonly component: string;
  /** Prefix of the ids; empty: any. */
  readonly prefix: string;
  /** The page begins after this id; empty: at the first one. */
  readonly afterId: string;
  readonly limit: number;
}

export interface HistoryQuery {
  readonly component: string;
  readonly id: string;
  /** Sequence number of the first record. */
  readonly from: number;
  readonly limit: number;
}

/** `after`: the page begins after the timer of this number; 0: at the first one. */
export interface TimerQuery {
  /** 'service': the schedules of the service; undefined: timers of all owners. */
  readonly owner: EntityRef | 'service' | undefined;
  readonly state: 'pending' | 'dead' | undefined;
  readonly after: number;
  readonly limit: number;
}

/** `after`: the page begins after the entity of this number; 0: at the first one. */
export interface LaneQuery {
  readonly consumer: string;
  readonly state: 'retrying' | 'parked' | undefined;
  readonly after: number;
  readonly limit: number;
}

export interface ObservedService {
  service(): ServiceDescription;
  traces(filter: TraceFilter): Promise<TraceList>;
  /** Resolves with undefined if no span of the trace is kept. */
  trace(traceId: string): Promise<TraceDetail | undefined>;
  faults(limit: number): Promise<FaultList>;
  live(): LiveNumbers;
  query(query: EntityQuery): Promise<ObservedAnswer>;
  entities(query: EntityListQuery): Promise<ObservedAnswer>;
  history(query: HistoryQuery): Promise<ObservedAnswer>;
  timers(query: TimerQuery): Promise<ObservedAnswer>;
  views(): ViewList;
  rows(query: RowQuery): Promise<ObservedAnswer>;
  consumers(): Promise<ObservedAnswer>;
  lanes(query: LaneQuery): Promise<ObservedAnswer>;
  openApi(): object;
  /** Returns undefined if the service is not run by `svc dev`. */
  dev(): DevState | undefined;
}
