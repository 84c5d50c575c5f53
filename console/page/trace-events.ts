// TraceEvents: finds the first record that a call has stored. Only the newest records of its entity are searched: a
// trace that the service still keeps is seldom older than these records.
import type { HistoryPage, HistoryStep, Span } from '@svc/contract';
import { getJson, observed } from './api.ts';
import { eventOfTrace } from './view/trace-event.ts';

const RECORDS_SEARCHED_MAX = 100;

/** Returns the sequence number of the record; undefined if none of the newest records belongs to the call's trace. */
export async function storedBy(
  { component, entityId, startedAt }: Span,
  traceId: string,
  instanceId: string,
  signal: AbortSignal,
): Promise<number | undefined> {
  const path = observed(instanceId, 'entities', component, entityId ?? '', 'history');
  const page = (from: number, limit: number) =>
    getJson<HistoryPage>(`${path}?from=${from}&limit=${limit}`, signal);
  const { total } = await page(1, 1);
  const steps: HistoryStep[] = [];
  let from: number | null = Math.max(1, total - RECORDS_SEARCHED_MAX + 1);
  while (from !== null && from <= total) {
    const next: HistoryPage = await page(from, RECORDS_SEARCHED_MAX);
    steps.push(...next.steps);
    ({ next: from } = next);
  }
  return eventOfTrace(steps, traceId, startedAt);
}
