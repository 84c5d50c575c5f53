// The schemas of what a service on a developer's machine answers at its loopback observability endpoint. They are
// published as JSON Schema (generated/observability.schema.json); programs take the types from here, and leave the
// schema library to `npm run generate`. Times are ISO 8601 in UTC with milliseconds, durations milliseconds with
// fractions. What there may be none of is null. Fields are only ever added.
import { Type, type Static, type TSchema } from 'typebox';

const closed = { additionalProperties: false } as const;
const Count = Type.Integer({ minimum: 0 });
const Amount = Type.Number({ minimum: 0 });
const Text = Type.String();
const Time = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$' });
const TraceId = Type.String({ pattern: '^[0-9a-f]{32}$' });
const SpanId = Type.String({ pattern: '^[0-9a-f]{16}$' });
const OrNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
const Word = Type.Literal;
/** As in the module's descriptor (generated/module-descriptor.schema.json); its references are '#/types/NAME'. */
const DescribedType = Type.Unknown();

const shapes = {
  Outcome: Type.Union([Word('Ok'), Word('Refused'), Word('Failed'), Word('TimedOut')]),
  InvocationKind: Type.Union([Word('endpoint'), Word('command'), Word('query')]),

  Instance: Type.Object(
    {
      /** Where its HTTP server listens: 'http://127.0.0.1:9000'; null while it does not. */
      address: OrNull(Text),
      shards: Count,
    },
    closed,
  ),
  Command: Type.Object({ name: Text }, closed),
  Query: Type.Object(
    {
      name: Text,
      /** Absent: it takes none. */
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
      /** A request may come without it. */
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
      /** Who may call: 'internet', 'services', 'services shop/cart', 'local' or 'nobody'. */
      access: Text,
      parameters: Type.Array(Type.Object({ name: Text, schema: DescribedType }, closed)),
      /** Absent: the route declares none. */
      query: Type.Optional(
        Type.Array(
          Type.Object({ name: Text, schema: DescribedType, required: Type.Boolean() }, closed),
        ),
      ),
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
      /** As in the registration file. */
      instanceId: Text,
      runtimeVersion: Text,
      startedAt: Time,
      pid: Count,
      instances: Type.Array(Type.Ref('Instance')),
      components: Type.Array(Type.Ref('Component')),
      routes: Type.Array(Type.Ref('ServiceRoute')),
      /** What '#/types/NAME' refers to. */
      types: Type.Record(Text, DescribedType),
      module: Type.Object({ fingerprint: Text, sdk: OrNull(Text) }, closed),
      /** It is run by `svc dev`. */
      dev: Type.Boolean(),
    },
    closed,
  ),

  /** A place in the sources of a module. */
  SourcePlace: Type.Object(
    { file: Text, line: Count, column: OrNull(Count), function: OrNull(Text) },
    closed,
  ),
  /** Why an invocation was refused, failed or was late. */
  SpanFault: Type.Object(
    {
      /** Of a refusal ('CONFLICT'), of a guest's fault ('trap', 'fuel') or of docs/errors ('SVC_…'). */
      code: Text,
      /** Which limit was met. */
      limit: OrNull(Text),
      reason: Text,
      /** The module's own last words. */
      guestMessage: OrNull(Text),
      /** What it logged before that: the last 20 lines, the oldest first, with 2,000 characters in all. */
      logLines: Type.Optional(Type.Array(Text)),
      /** Where in the sources, the innermost first; empty where it is not known. */
      places: Type.Array(Type.Ref('SourcePlace')),
      /** As in the answer and in the log. */
      errorId: OrNull(Text),
    },
    closed,
  ),
  Span: Type.Object(
    {
      spanId: SpanId,
      parentId: OrNull(SpanId),
      kind: Type.Ref('InvocationKind'),
      component: Text,
      handler: Text,
      /** Of a command or a query. */
      entityId: OrNull(Text),
      startedAt: Time,
      /** After the beginning of the trace. */
      offsetMs: Amount,
      durationMs: Amount,
      outcome: Type.Ref('Outcome'),
      /** Units that the module used; null where nothing is metered. */
      fuel: OrNull(Count),
      events: Count,
      /** Of the answer of an endpoint. */
      status: OrNull(Count),
      shard: Count,
      fault: OrNull(Type.Ref('SpanFault')),
      /** In the order in which they began. */
      children: Type.Array(Type.Ref('Span')),
    },
    closed,
  ),
  TraceSummary: Type.Object(
    {
      traceId: TraceId,
      /** Of the span that began first. */
      kind: Type.Ref('InvocationKind'),
      component: Text,
      handler: Text,
      /** For people: 'POST /carts/{cartId}/items', 'shopping-cart.add-item'. */
      name: Text,
      /** Of the first command or query in it. */
      entityId: OrNull(Text),
      startedAt: Time,
      durationMs: Amount,
      outcome: Type.Ref('Outcome'),
      status: OrNull(Count),
      spans: Count,
      /** Of these, how many have failed or were late. */
      failed: Count,
      /** The reason of the first that has. */
      error: OrNull(Text),
      /** The module's own last words about it. */
      guestMessage: OrNull(Text),
    },
    closed,
  ),
  /** GET /observability/traces */
  TraceList: Type.Object(
    {
      /** Newest first. */
      traces: Type.Array(Type.Ref('TraceSummary')),
      /** Spans that are kept at most, and spans since the process started. */
      window: Type.Object({ capacity: Count, recorded: Count }, closed),
      /** Traces in the window that fit the filter, on all pages together. */
      total: Count,
      /** How many of them are newer than this page. */
      newer: Count,
      /** The value of `after` for the page before this one; null: that is the first page, which takes no `after`. */
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
      /** That are not shown: the trace is cut. */
      moreSpans: Count,
      /** A caller's span outside of this service that the first span is a child of. */
      remoteParent: OrNull(SpanId),
      silentShards: Type.Array(Count),
    },
    closed,
  ),
  Fault: Type.Object(
    {
      at: Time,
      traceId: OrNull(TraceId),
      /** It and `handler` are empty where no handler has failed, but a shard has ended. */
      component: Text,
      handler: Text,
      entityId: OrNull(Text),
      outcome: Type.Ref('Outcome'),
      fault: Type.Ref('SpanFault'),
    },
    closed,
  ),
  /** GET /observability/faults: what has failed or was late, newest first; refusals are none. */
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
      /** Of their durations; null where there were none. */
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
      /** Since the start, by the names of the metrics' series. */
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
      /** Entities whose id begins with `prefix`, on all pages together; counting stops at 100,000. */
      total: Count,
      /** There are more than `total`. */
      totalCapped: Type.Boolean(),
      /** The value of `after` for the next page; null: there is none. */
      next: OrNull(Text),
    },
    closed,
  ),
  StateChange: Type.Object(
    {
      /** JSON path: '$.items[0].quantity'. */
      path: Text,
      /** JSON text; null: it was not there. */
      before: OrNull(Text),
      /** JSON text; null: it is not there any more. */
      after: OrNull(Text),
    },
    closed,
  ),
  HistoryStep: Type.Object(
    {
      seq: Count,
      kind: Type.Union([Word('event'), Word('deleted'), Word('damaged')]),
      time: OrNull(Time),
      manifest: OrNull(Text),
      /** The case of a sum type. */
      type: OrNull(Text),
      /** As it is stored, JSON text. */
      event: OrNull(Text),
      traceId: OrNull(TraceId),
      /** The idempotency key that it answered. */
      key: OrNull(Text),
      changes: Type.Array(Type.Ref('StateChange')),
      moreChanges: Count,
      /** After it, JSON text; null where it is not known. */
      state: OrNull(Text),
      /** The state is too large and was left out. */
      stateCut: Type.Boolean(),
      /** Why the state is not known from here on. */
      problem: OrNull(Text),
    },
    closed,
  ),
  /** GET /observability/entities/{component}/{id}/history */
  HistoryPage: Type.Object(
    {
      component: Text,
      id: Text,
      /** Oldest first. */
      steps: Type.Array(Type.Ref('HistoryStep')),
      /** What `from` is given to have the next page; null: there is none. */
      next: OrNull(Count),
      /** Records of the entity, of all its lives. */
      total: Count,
    },
    closed,
  ),

  DevProblem: Type.Object(
    {
      message: Text,
      file: OrNull(Text),
      line: OrNull(Count),
      column: OrNull(Count),
      /** The line itself, and what to do. */
      source: OrNull(Text),
      help: OrNull(Text),
    },
    closed,
  ),
  /** GET /observability/dev: 404 unless `svc dev` runs the service. */
  DevState: Type.Object(
    {
      state: Type.Union([Word('building'), Word('serving'), Word('build-failed'), Word('refused')]),
      since: Time,
      /** Of the compiler, or why the module was refused at its start. The old one is served on. */
      problems: Type.Array(Type.Ref('DevProblem')),
      /** What stored events say to the module; null: it is not known yet. */
      upgrade: OrNull(Type.Array(Text)),
      /** Of the last build, and from its end to the first answer. */
      builtMs: OrNull(Amount),
      servedAfterMs: OrNull(Amount),
    },
    closed,
  ),

  /** Every answer that is not 200. */
  Problem: Type.Object(
    { status: Count, error: Text, details: Type.Optional(Type.Unknown()) },
    closed,
  ),
};

const module = Type.Module(shapes);
/** By name, with references of the form `{ $ref: 'NAME' }`. */
export const observabilityShapes: Readonly<Record<string, TSchema>> = shapes;
export type Outcome = Static<typeof module.Outcome>;
export type InvocationKind = Static<typeof module.InvocationKind>;
export type ServiceDescription = Static<typeof module.ServiceDescription>;
export type ObservedComponent = Static<typeof module.Component>;
export type ObservedQuery = Static<typeof module.Query>;
export type ServiceRoute = Static<typeof module.ServiceRoute>;
export type SourcePlace = Static<typeof module.SourcePlace>;
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
export type DevProblem = Static<typeof module.DevProblem>;
export type DevState = Static<typeof module.DevState>;
export type ObservabilityProblem = Static<typeof module.Problem>;
