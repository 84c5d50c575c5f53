// What the traces' screen asks for and shows of it. Pure.
import type { TraceList, TraceSummary } from '@svc/contract';
import type { TraceFilter } from '../route.ts';
import { amountText, countText } from './number-text.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** The service takes no longer text. */
const TEXT_UNITS_MAX = 200;

/** The query of `GET /observability/traces`. */
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

/** Rounded to microseconds. A text that is not a number is no bound. */
function minimumMs({ minMs }: TraceFilter): number {
  const ms = minMs.trim() === '' ? 0 : Number(minMs.replace(',', '.'));
  if (!Number.isFinite(ms)) return 0;
  return Math.min(Math.max(Math.round(ms * 1000) / 1000, 0), DAY_MS);
}

/** '101–200 of 401 traces'; the first page of one page alone needs no numbers: '12 traces'. */
export function pageText({ traces, newer, total }: TraceList): string {
  if (traces.length === total) return amountText(total, 'trace');
  if (traces.length === 0) return `0 of ${amountText(total, 'trace')}`;
  const [first, last] = [countText(newer + 1), countText(newer + traces.length)];
  return `${first}–${last} of ${amountText(total, 'trace')}`;
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
