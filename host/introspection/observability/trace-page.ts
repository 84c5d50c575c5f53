// TracePage is one page of the traces in the window that match a filter, newest first. A cursor is a position in that
// order and need not be a trace's: a page begins at the same position whatever traces were added or removed since.
import type { TraceList, TraceSummary } from '@svc/contract';
import type { TraceFilter } from './observed-service.ts';
import type { RecordedSpan } from '../../shards/recorder/recorded-span.ts';

export interface TraceWithCursor {
  readonly trace: TraceSummary;
  /** Cursors sort as their traces do. */
  readonly cursor: string;
}

export type TracePage = Pick<TraceList, 'traces' | 'total' | 'newer' | 'previous' | 'next'>;

/** Returns a page. `spans`: all spans of the traces. `newestFirst`: sorted by cursor, the largest first. */
export function tracePage(
  spans: readonly RecordedSpan[],
  newestFirst: readonly TraceWithCursor[],
  filter: TraceFilter,
): TracePage {
  const { after, limit } = filter;
  const fitting = fittingTraces(spans, newestFirst, filter);
  const first = after === undefined ? 0 : fitting.findIndex(({ cursor }) => cursor < after);
  const newer = first < 0 ? fitting.length : first;
  const page = fitting.slice(newer, newer + limit);
  return {
    traces: page.map(({ trace }) => trace),
    total: fitting.length,
    newer,
    previous: newer > limit ? fitting[newer - limit - 1]!.cursor : null,
    next: newer + limit < fitting.length ? (page.at(-1)?.cursor ?? null) : null,
  };
}

function fittingTraces(
  spans: readonly RecordedSpan[],
  newestFirst: readonly TraceWithCursor[],
  { component, outcomes, minDurationMs, text }: TraceFilter,
): readonly TraceWithCursor[] {
  const ofComponent =
    component === undefined ? undefined : tracesWith(spans, (span) => span.component === component);
  const matches = containing(text);
  const matchingTraces =
    matches === undefined ? undefined : tracesWith(spans, (span) => textsOf(span).some(matches));
  return newestFirst.filter(
    ({ trace }) =>
      (ofComponent === undefined || ofComponent.has(trace.traceId)) &&
      (outcomes === undefined || outcomes.has(trace.outcome)) &&
      trace.durationMs >= minDurationMs &&
      (matches === undefined ||
        matchingTraces?.has(trace.traceId) === true ||
        [trace.name, trace.traceId].some(matches)),
  );
}

function tracesWith(
  spans: readonly RecordedSpan[],
  isWanted: (span: RecordedSpan) => boolean,
): ReadonlySet<string> {
  const traceIds = new Set<string>();
  for (const span of spans)
    if (!traceIds.has(span.traceId) && isWanted(span)) traceIds.add(span.traceId);
  return traceIds;
}

function containing(text: string | undefined): ((part: string) => boolean) | undefined {
  const wanted = text?.trim().toLowerCase() ?? '';
  return wanted === '' ? undefined : (part) => part.toLowerCase().includes(wanted);
}

function textsOf({ component, handler, entityId, fault }: RecordedSpan): string[] {
  return [
    `${component}.${handler}`,
    entityId ?? '',
    fault?.reason ?? '',
    fault?.guestMessage ?? '',
  ];
}
