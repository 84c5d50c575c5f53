// TraceTree assembles spans of all shards into traces: summaries of all of them, and one trace as a tree. Ids come
// from callers and modules and may be wrong: a span is shown once, below the span that it names as its parent if the
// parent began earlier, and circular parents cannot cause a loop.
import type {
  Fault,
  Outcome,
  ServiceRoute,
  SourceLocation,
  Span,
  SpanFault,
  TraceSummary,
} from '@svc/contract';
import type { RecordedFault, RecordedSpan } from '../../shards/recorder/recorded-span.ts';

export const SPANS_SHOWN_MAX = 1_000;
/** Maximum number of ancestors of a span; a span with more becomes a root. */
const DEPTH_MAX = 64;
const MICROS_PER_MS = 1_000;

/** The spans of one trace as a tree, with its totals. */
export interface TraceTree {
  readonly startMs: number;
  readonly durationMs: number;
  readonly roots: Span[];
  /** Number of spans that are left out, because the trace has more than SPANS_SHOWN_MAX. */
  readonly moreSpans: number;
  /** Id of the span that the first span names as its parent; null if it names none. */
  readonly remoteParent: string | null;
}

/** Assembles one trace. `spans`: at least one. `locationsOf`: returns the source locations of a fault. */
export function traceTree(
  spans: readonly RecordedSpan[],
  locationsOf: (fault: RecordedFault) => SourceLocation[] = () => [],
): TraceTree {
  const ordered = spans.toSorted(byStart);
  const shown = ordered.slice(0, SPANS_SHOWN_MAX);
  const startMs = ordered[0]!.startMs;
  const nodes = new Map<string, { readonly span: Span; readonly depth: number }>();
  const roots: Span[] = [];
  for (const recorded of shown) {
    const span = spanOf(recorded, startMs, locationsOf);
    // A span that began later than its child is not its parent, so ids cannot form a circle.
    const parent = recorded.parentId === undefined ? undefined : nodes.get(recorded.parentId);
    const depth = parent === undefined ? 0 : parent.depth + 1;
    if (parent === undefined || depth > DEPTH_MAX) roots.push(span);
    else parent.span.children.push(span);
    // If two spans have the same id, the first one gets the children.
    if (!nodes.has(recorded.spanId)) nodes.set(recorded.spanId, { span, depth });
  }
  return {
    startMs,
    durationMs: rounded(endOf(ordered) - startMs),
    roots,
    moreSpans: ordered.length - shown.length,
    remoteParent: ordered[0]!.parentId ?? null,
  };
}

/** Summarises each trace that the spans belong to, in no particular order. */
export function traceSummaries(
  spans: readonly RecordedSpan[],
  nameOf: (span: RecordedSpan) => string,
): TraceSummary[] {
  return [...Map.groupBy(spans, (span) => span.traceId).values()].map((trace) =>
    traceSummary(trace, nameOf),
  );
}

function traceSummary(
  spans: readonly RecordedSpan[],
  nameOf: (span: RecordedSpan) => string,
): TraceSummary {
  const ordered = spans.toSorted(byStart);
  const first = ordered[0]!;
  const failed = ordered.filter(({ outcome }) => hasFailed(outcome));
  const { fault } = failed.find((span) => span.fault !== undefined) ?? first;
  return {
    traceId: first.traceId,
    kind: first.kind,
    component: first.component,
    handler: first.handler,
    name: nameOf(first),
    // For a request: the first entity that it called.
    entityId: ordered.find(({ entityId }) => entityId !== undefined)?.entityId ?? null,
    startedAt: isoTime(first.startMs),
    durationMs: rounded(endOf(ordered) - first.startMs),
    outcome: first.outcome,
    status: first.status ?? null,
    spans: ordered.length,
    failed: failed.length,
    error: fault?.reason ?? null,
    guestMessage: fault?.guestMessage ?? null,
  };
}

/** Returns a function from a span to its name, such as 'POST /carts/{cartId}/items' or 'shopping-cart.add-item'. */
export function spanName(routes: readonly ServiceRoute[]): (span: RecordedSpan) => string {
  const labels = new Map(
    routes.map(({ endpoint, handler, method, path }) => [
      `${endpoint}/${handler}`,
      `${method} ${path}`,
    ]),
  );
  return ({ kind, component, handler }) =>
    (kind === 'endpoint' ? labels.get(`${component}/${handler}`) : undefined) ??
    `${component}.${handler}`;
}

export function hasFailed(outcome: Outcome): boolean {
  return outcome === 'Failed' || outcome === 'TimedOut';
}

export function faultOf(
  { startMs, durationMs, traceId, component, handler, entityId, outcome }: RecordedSpan,
  fault: RecordedFault,
  locations: SourceLocation[],
): Fault {
  return {
    at: isoTime(startMs + durationMs),
    traceId,
    component,
    handler,
    entityId: entityId ?? null,
    outcome,
    fault: shownFault(fault, locations),
  };
}

function spanOf(
  span: RecordedSpan,
  traceStartMs: number,
  locationsOf: (fault: RecordedFault) => SourceLocation[],
): Span {
  const { fault } = span;
  return {
    spanId: span.spanId,
    parentId: span.parentId ?? null,
    kind: span.kind,
    component: span.component,
    handler: span.handler,
    entityId: span.entityId ?? null,
    startedAt: isoTime(span.startMs),
    offsetMs: rounded(span.startMs - traceStartMs),
    durationMs: rounded(span.durationMs),
    outcome: span.outcome,
    fuel: span.fuel,
    events: span.events,
    status: span.status ?? null,
    shard: span.shard,
    fault: fault === undefined ? null : shownFault(fault, locationsOf(fault)),
    children: [],
  };
}

export function shownFault(fault: RecordedFault, locations: SourceLocation[]): SpanFault {
  const { code, limit, reason, guestMessage, logLines, errorId } = fault;
  return {
    code,
    limit: limit ?? null,
    reason,
    guestMessage: guestMessage ?? null,
    ...(logLines === undefined ? {} : { logLines: [...logLines] }),
    places: locations,
    errorId: errorId ?? null,
  };
}

/** Sorts a parent before its children, even if the clock is too coarse to distinguish their starts. */
function byStart(a: RecordedSpan, b: RecordedSpan): number {
  if (a.startMs !== b.startMs) return a.startMs - b.startMs;
  return b.durationMs - a.durationMs;
}

function endOf(spans: readonly RecordedSpan[]): number {
  let end = 0;
  for (const { startMs, durationMs } of spans) end = Math.max(end, startMs + durationMs);
  return end;
}

/** Formats a time as ISO 8601 in UTC, with milliseconds. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** Rounds milliseconds to microseconds, the resolution of the clocks; a negative value becomes 0. */
export function rounded(ms: number): number {
  return Math.max(0, Math.round(ms * MICROS_PER_MS) / MICROS_PER_MS);
}
