// What the traces' screen asks for and shows of it. Pure.
import type { TraceSummary } from '@svc/contract';
import type { TraceFilter } from '../route.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** The query of `GET /observability/traces`. */
export function traceQuery(filter: TraceFilter, limit: number, after?: string): string {
  const query = new URLSearchParams({ limit: String(limit) });
  if (filter.component !== '') query.set('component', filter.component);
  if (filter.outcomes.length > 0) query.set('outcome', filter.outcomes.join(','));
  // The service takes whole milliseconds; the page is exact.
  const leastMs = Math.floor(minimumMs(filter));
  if (leastMs > 0) query.set('min-duration-ms', String(leastMs));
  if (after !== undefined) query.set('after', after);
  return query.toString();
}

/** What the page filters by itself: fractions of a millisecond, and a text in the name, the entity or the id. */
export function fittingTraces(
  traces: readonly TraceSummary[],
  filter: TraceFilter,
): TraceSummary[] {
  const wanted = filter.text.trim().toLowerCase();
  const leastMs = minimumMs(filter);
  return traces.filter(({ name, entityId, traceId, error, guestMessage, durationMs }) => {
    if (durationMs < leastMs) return false;
    const parts = [name, entityId ?? '', traceId, error ?? '', guestMessage ?? ''];
    return parts.some((part) => part.toLowerCase().includes(wanted));
  });
}

/** What is no number is no bound. */
function minimumMs({ minMs }: TraceFilter): number {
  const ms = minMs.trim() === '' ? 0 : Number(minMs.replace(',', '.'));
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), DAY_MS) : 0;
}

/** How many of the newest are not among those that are shown. */
export function newTraceCount(
  shown: readonly TraceSummary[],
  newest: readonly TraceSummary[],
): number {
  const known = new Set(shown.map(({ traceId }) => traceId));
  return newest.filter(({ traceId }) => !known.has(traceId)).length;
}

export function isFiltered({ component, outcomes, minMs, text }: TraceFilter): boolean {
  return component !== '' || outcomes.length > 0 || minMs !== '' || text !== '';
}
