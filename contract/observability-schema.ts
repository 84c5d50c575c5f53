// The schemas of the responses of the loopback observability endpoint of a service on a developer's machine.
// They are published as JSON Schema (generated/observability.schema.json); programs import only types from here,
// so that only `npm run generate` loads the schema library. Times are ISO 8601 in UTC with milliseconds, durations
// milliseconds with fractions. A missing value is null. Fields are only ever added.
import { Type, type Static, type TSchema } from 'typebox';
import {
  closed,
  Count,
  Amount,
  Text,
  Time,
  TraceId,
  SpanId,
  OrNull,
  Word,
  DescribedType,
} from './observability-values.ts';
import { historyShapes } from './observability-history-schema.ts';
import { processShapes } from './observability-process-schema.ts';
import { workShapes } from './observability-work-schema.ts';

const Parameter = { name: Text, schema: DescribedType } as const;
/** `default`: JSON form of the value that the handler is given in place of a parameter that is left out. */
const QueryParameter = {
  ...Parameter,
  required: Type.Boolean(),
  default: Type.Optional(Type.Unknown()),
} as const;

const shapes = {
  Outcome: Type.Union([Word('Ok'), Word('Refused'), Word('Failed'), Word('TimedOut')]),
  /** `firing`: a command that a due timer sends. `consumer`: an event that a consumer handles. */
  InvocationKind: Type.Union([
    Word('endpoint'),
    Word('command'),
    Word('query'),
    Word('firing'),
    Word('consumer'),
  ]),

  Instance: Type.Object(
    {
      /** Address of its HTTP server: 'http://127.0.0.1:9000'; null while it does not listen. */
      address: OrNull(Text),
      shards: Count,
    },
    closed,
  ),
  Command: Type.Object({ name: Text }, closed),
  Query: Type.Object(
    {
      name: Text,
      /** Absent: the handler takes no input. */
      input: Type.Optional(DescribedType),
      reply: DescribedType,
    },
    closed,
  ),
  Component: Type.Object(
    {
      component: Text,
      kind: Word('event-sourced-entity'),
      commands: Type.Array(Type.Ref('Command')),
      queries: Type.Array(Type.Ref('Query')),
      state: Type.Object({ manifest: Text }, closed),
      event: Type.Object({ manifest: Text }, closed),
    },
    closed,
  ),
  RouteBody: Type.Object(
    {
      kind: Type.Union([Word('json'), Word('text'), Word('bytes')]),
      schema: Type.Optional(DescribedType),
      /** True: a request may come without the body. */
      optional: Type.Optional(Type.Literal(true)),
    },
    closed,
  ),
  ServiceRoute: Type.Object(
    {
      method: Text,
      /** The whole template: '/carts/{cartId}'. */
      path: Text,
      endpoint: Text,
      handler: Text,
      /** Admitted callers: 'internet', 'services', 'services shop/cart', 'local' or 'nobody'. */
      access: Text,
      /** True: the route asks its callers for an access token. */
      bearer: Type.Optional(Type.Literal(true)),
      parameters: Type.Array(Type.Object(Parameter, closed)),
      /** Absent: the route declares none. */
      query: Type.Optional(Type.Array(Type.Object(QueryParameter, closed))),
      body: Type.Optional(Type.Ref('RouteBody')),
      /** Absent: no content (204). */
      reply: Type.Optional(Type.Ref('RouteBody')),
    },
    closed,
  ),
  /** GET /observability/service */
  ServiceDescription: Type.Object(
    {
      name: Text,
      /** Instance id, as in the registration file. */
      instanceId: Text,
      runtimeVersion: Text,
      startedAt: Time,
      pid: Count,
      instances: Type.Array(Type.Ref('Instance')),
      components: Type.Array(Type.Ref('Component')),
      routes: Type.Array(Type.Ref('ServiceRoute')),
      /** Types that '#/types/NAME' refers to. */
      types: Type.Record(Text, DescribedType),
      /** Null: the service is web-hosted and has no module. */
      module: OrNull(Type.Object({ fingerprint: Text, sdk: OrNull(Text) }, closed)),
      /** 'process': a web-hosted service, which has a process instead of components. Absent: it has components. */
      hosting: Type.Optional(Word('process')),
      /** The process's protocol. */
      protocol: Type.Optional(Word('http/1.1')),
      process: Type.Optional(Type.Ref('WebProcess')),
      /** Absent: the components are not in a process of their own. */
      codeProcess: Type.Optional(Type.Ref('CodeProcess')),
      /** Paths whose requests go to other services. */
      mounts: Type.Optional(Type.Array(Type.Object({ path: Text, service: Text }, closed))),
      /** True: `svc dev` runs the service. */
      dev: Type.Boolean(),
      /** True: the service takes tokens of the development key of this machine. */
      developmentTokens: Type.Optional(Type.Literal(true)),
      /** Path of its control socket, which only its user can reach; null if it has none. */
      control: OrNull(Text),
    },
    closed,
  ),

  /** Location in the sources of a module. */
  SourcePlace: Type.Object(
    { file: Text, line: Count, column: OrNull(Count), function: OrNull(Text) },
    closed,
  ),
  /** Reason why an invocation was refused, failed or was late. */
  SpanFault: Type.Object(
    {
      /** Code of a refusal ('CONFLICT'), of a guest's fault ('trap', 'fuel') or of docs/errors ('SVC_…'). */
      code: Text,
      /** Limit that was exceeded. */
      limit: OrNull(Text),
      reason: Text,
      /** Abort message of the module. */
      guestMessage: OrNull(Text),
      /** Log lines before the fault: the last 20, oldest first, with 2,000 characters in all. */
      logLines: Type.Optional(Type.Array(Text)),
      /** Source locations, innermost first; empty if they are unknown. */
      places: Type.Array(Type.Ref('SourcePlace')),
      /** Error id, as in the answer and in the log. */
      errorId: OrNull(Text),
    },
    closed,
  ),
  Span: Type.Object(
    {
      spanId: SpanId,
      parentId: OrNull(SpanId),
      kind: Type.Ref('InvocationKind'),
      /** Component of an entity, name of an endpoint, or id of a consumer. */
      component: Text,
      /** Command, query or handler of a route; of a consumer, the component whose event it handles. */
      handler: Text,
      /** Entity of a command or a query, or of the event that a consumer handles. */
      entityId: OrNull(Text),
      startedAt: Time,
      /** Milliseconds since the beginning of the trace. */
      offsetMs: Amount,
      durationMs: Amount,
      outcome: Type.Ref('Outcome'),
      /** Units that the module used; null where nothing is metered. */
      fuel: OrNull(Count),
      events: Count,
      /** Status of an endpoint's answer. */
      status: OrNull(Count),
      shard: Count,
      fault: OrNull(Type.Ref('SpanFault')),
      /** Child spans in the order in which they began. */
      children: Type.Array(Type.Ref('Span')),
    },
    closed,
  ),
  TraceSummary: Type.Object(
    {
      traceId: TraceId,
      /** Kind of the span that began first. */
      kind: Type.Ref('InvocationKind'),
      component: Text,
      handler: Text,
      /** Display name: 'POST /carts/{cartId}/items', 'shopping-cart.add-item'. */
      name: Text,
      /** Entity of the first command or query in the trace. */
      entityId: OrNull(Text),
      startedAt: Time,
      durationMs: Amount,
      outcome: Type.Ref('Outcome'),
      status: OrNull(Count),
      spans: Count,
      /** Number of the spans that failed or were late. */
      failed: Count,
      /** Reason of the first failure. */
      error: OrNull(Text),
      /** Abort message of the module for that failure. */
      guestMessage: OrNull(Text),
    },
    closed,
  ),
  /** GET /observability/traces */
  TraceList: Type.Object(
    {
      /** Traces, newest first. */
      traces: Type.Array(Type.Ref('TraceSummary')),
      /** Maximum number of spans that are kept, and number of spans since the process started. */
      window: Type.Object({ capacity: Count, recorded: Count }, closed),
      /** Traces in the window that fit the filter, on all pages together. */
      total: Count,
      /** Number of these traces that are newer than this page. */
      newer: Count,
      /** The value of `after` for the page before this one; null if that is the first page, or there is none. */
      previous: OrNull(Text),
      /** The value of `after` for the next page; null: there is none. */
      next: OrNull(Text),
      /** Shards that did not answer in time: their spans are missing. */
      silentShards: Type.Array(Count),
    },
    closed,
  ),
  /** GET /observability/traces/{traceId} */
  TraceDetail: Type.Object(
    {
      traceId: TraceId,
      startedAt: Time,
      durationMs: Amount,
      /** Spans without a parent in the window. */
      roots: Type.Array(Type.Ref('Span')),
      /** Number of spans that are left out of a trace that is too long. */
      moreSpans: Count,
      /** Span of a caller outside of this service that is the parent of the first span. */
      remoteParent: OrNull(SpanId),
      silentShards: Type.Array(Count),
    },
    closed,
  ),
  Fault: Type.Object(
    {
      at: Time,
      traceId: OrNull(TraceId),
      /** Component; empty, like `handler`, if a shard has ended rather than a handler failed. */
      component: Text,
      handler: Text,
      entityId: OrNull(Text),
      outcome: Type.Ref('Outcome'),
      fault: Type.Ref('SpanFault'),
    },
    closed,
  ),
  /** GET /observability/faults: failures and late invocations, newest first; refusals are not included. */
  FaultList: Type.Object(
    { faults: Type.Array(Type.Ref('Fault')), silentShards: Type.Array(Count) },
    closed,
  ),

  LiveSecond: Type.Object(
    {
      at: Time,
      /** Invocations of endpoints that ended in this second. */
      requests: Count,
      ok: Count,
      refused: Count,
      failed: Count,
      timedOut: Count,
      /** Percentiles of the durations of these invocations; null if there were none. */
      p50Ms: OrNull(Amount),
      p95Ms: OrNull(Amount),
      p99Ms: OrNull(Amount),
    },
    closed,
  ),
  /** GET /observability/live */
  LiveNumbers: Type.Object(
    {
      at: Time,
      /** The last two minutes, oldest first. */
      seconds: Type.Array(Type.Ref('LiveSecond')),
      /** Totals since the start, by the names of the metrics' series. */
      totals: Type.Record(Text, Type.Number()),
    },
    closed,
  ),

  StoredEntity: Type.Object(
    { id: Text, events: Count, lastTime: OrNull(Time), deleted: Type.Boolean() },
    closed,
  ),
  /** GET /observability/entities/{component} */
  EntityList: Type.Object(
    {
      component: Text,
      /** Sorted by id. */
      entities: Type.Array(Type.Ref('StoredEntity')),
      /** Number of entities whose id begins with `prefix`, on all pages together; counting stops at 100,000. */
      total: Count,
      /** True: there are more than `total`. */
      totalCapped: Type.Boolean(),
      /** The value of `after` for the next page; null: there is none. */
      next: OrNull(Text),
    },
    closed,
  ),
  ...processShapes,
  ...historyShapes,
  ...workShapes,

  DevProblem: Type.Object(
    {
      message: Text,
      file: OrNull(Text),
      line: OrNull(Count),
      column: OrNull(Count),
      /** The source line, and what to do. */
      source: OrNull(Text),
      help: OrNull(Text),
    },
    closed,
  ),
  /** GET /observability/dev. The response is 404 unless `svc dev` runs the service. */
  DevState: Type.Object(
    {
      state: Type.Union([Word('building'), Word('serving'), Word('build-failed'), Word('refused')]),
      since: Time,
      /**
       * Problems of the compiler, or the reason why the module was refused at its start. The old module stays in
       * service.
       */
      problems: Type.Array(Type.Ref('DevProblem')),
      /** Result of checking stored events against the module; null: it is not known yet. */
      upgrade: OrNull(Type.Array(Text)),
      /** Duration of the last build, and time from its end to the first answer; null while they are unknown. */
      builtMs: OrNull(Amount),
      servedAfterMs: OrNull(Amount),
    },
    closed,
  ),

  /** Body of every response that is not 200. */
  Problem: Type.Object(
    { status: Count, error: Text, details: Type.Optional(Type.Unknown()) },
    closed,
  ),
};

const module = Type.Module(shapes);
/** Shapes by name, with references of the form `{ $ref: 'NAME' }`. */
export const observabilityShapes: Readonly<Record<string, TSchema>> = shapes;
export type Outcome = Static<typeof module.Outcome>;
export type InvocationKind = Static<typeof module.InvocationKind>;
export type ServiceDescription = Static<typeof module.ServiceDescription>;
export type ObservedComponent = Static<typeof module.Component>;
export type ObservedQuery = Static<typeof module.Query>;
export type ServiceRoute = Static<typeof module.ServiceRoute>;
export type SourceLocation = Static<(typeof module)['SourcePlace']>;
export type SpanFault = Static<typeof module.SpanFault>;
export type Span = Static<typeof module.Span>;
export type TraceSummary = Static<typeof module.TraceSummary>;
export type TraceList = Static<typeof module.TraceList>;
export type TraceDetail = Static<typeof module.TraceDetail>;
export type Fault = Static<typeof module.Fault>;
export type FaultList = Static<typeof module.FaultList>;
export type LiveSecond = Static<typeof module.LiveSecond>;
export type LiveNumbers = Static<typeof module.LiveNumbers>;
export type StoredEntity = Static<typeof module.StoredEntity>;
export type EntityList = Static<typeof module.EntityList>;
export type StateChange = Static<typeof module.StateChange>;
export type HistoryStep = Static<typeof module.HistoryStep>;
export type HistoryPage = Static<typeof module.HistoryPage>;
export type ObservedTimer = Static<typeof module.ObservedTimer>;
export type TimerList = Static<typeof module.TimerList>;
export type ObservedView = Static<typeof module.ObservedView>;
export type ViewList = Static<typeof module.ViewList>;
export type ViewRows = Static<typeof module.ViewRows>;
export type ObservedConsumer = Static<typeof module.ObservedConsumer>;
export type ConsumerList = Static<typeof module.ConsumerList>;
export type ObservedLane = Static<typeof module.ObservedLane>;
export type LaneList = Static<typeof module.LaneList>;
export type DevProblem = Static<typeof module.DevProblem>;
export type DevState = Static<typeof module.DevState>;
export type ObservabilityProblem = Static<typeof module.Problem>;
