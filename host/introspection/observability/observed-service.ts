// ObservedService: what the observability endpoint asks of the service that it shows, and the form of an answer.
import type {
  DevState,
  FaultList,
  LiveNumbers,
  ObservabilityProblem,
  Outcome,
  ServiceDescription,
  TraceDetail,
  TraceList,
} from '@svc/contract';

/** `body`: JSON text, of a status that is not 200 an ObservabilityProblem. */
export interface ObservedAnswer {
  readonly status: number;
  readonly body: string;
}

export interface TraceFilter {
  readonly limit: number;
  /** Traces with a span of it. */
  readonly component: string | undefined;
  /** How the first span came out. */
  readonly outcomes: ReadonlySet<Outcome> | undefined;
  readonly minDurationMs: number;
  /** Text in the trace's name or id, or in a span's name, entity id or reason; undefined: any. */
  readonly text: string | undefined;
  /** `next` or `previous` of another page. */
  readonly after: string | undefined;
}

export interface EntityQuery {
  readonly component: string;
  readonly id: string;
  readonly method: string;
  /** JSON text; undefined: there is none. */
  readonly input: string | undefined;
}

export interface EntityListQuery {
  readonly component: string;
  /** What the ids begin with; empty: anything. */
  readonly prefix: string;
  /** The page begins after this id; empty: with the first. */
  readonly afterId: string;
  readonly limit: number;
}

export interface HistoryQuery {
  readonly component: string;
  readonly id: string;
  /** Number of the first record. */
  readonly from: number;
  readonly limit: number;
}

export interface ObservedService {
  service(): ServiceDescription;
  traces(filter: TraceFilter): Promise<TraceList>;
  /** Undefined: no span of it is kept. */
  trace(traceId: string): Promise<TraceDetail | undefined>;
  faults(limit: number): Promise<FaultList>;
  live(): LiveNumbers;
  query(query: EntityQuery): Promise<ObservedAnswer>;
  entities(query: EntityListQuery): Promise<ObservedAnswer>;
  history(query: HistoryQuery): Promise<ObservedAnswer>;
  openApi(): object;
  /** Undefined: the service is not run by `svc dev`. */
  dev(): DevState | undefined;
}

export function shown(value: object): ObservedAnswer {
  return { status: 200, body: JSON.stringify(value) };
}

export function problem(status: number, error: string, details?: unknown): ObservedAnswer {
  const body: ObservabilityProblem =
    details === undefined ? { status, error } : { status, error, details };
  return { status, body: JSON.stringify(body) };
}
