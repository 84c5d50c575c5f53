// TraceList: the requests and texts of the screen with the traces. The functions are pure.
import type { TraceList, TraceSummary } from '@svc/contract';
import type { TraceFilter } from '../route.ts';
import { amountText, countText } from './number-text.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** Maximum length of a filter text that the service accepts, in UTF-16 code units. */
const TEXT_UNITS_MAX = 200;

/** Returns the query string of `GET /observability/traces`. */
export function traceQuery(filter: TraceFilter, limit: number, after?: string): string {
  const query = new URLSearchParams({ limit: String(limit) });
  if (filter.component !== '') query.set('component', filter.component);
  if (filter.outcomes.length > 0) query.set('outcome', filter.outcomes.join(','));
  const leastMs = minimumMs(filter);
  if (leastMs > 0) query.set('min-duration-ms', String(leastMs));
  const text = filter.text.trim().slice(0, TEXT_UNITS_MAX);
  if (text !== '') query.set('text', text);
  if (after !== undefined) query.set('after', after);
  return query.toString();
}

/** Returns the minimum duration in milliseconds, at most one day, rounded to microseconds; 0 if it is not a number. */
function minimumMs({ minMs }: TraceFilter): number {
  const ms = minMs.trim() === '' ? 0 : Number(minMs.replace(',', '.'));
  if (!Number.isFinite(ms)) return 0;
  return Math.min(Math.max(Math.round(ms * 1000) / 1000, 0), DAY_MS);
}

/** Returns '101–200 of 401 traces', or '12 traces' if there is only one page. */
export function pageText({ traces, newer, total }: TraceList): string {
  if (traces.length === total) return amountText(total, 'trace');
  if (traces.length === 0) return `0 of ${amountText(total, 'trace')}`;
  const [first, last] = [countText(newer + 1), countText(newer + traces.length)];
  return `${first}–${last} of ${amountText(total, 'trace')}`;
}

/** Returns how many of the newest traces are not displayed yet. */
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
