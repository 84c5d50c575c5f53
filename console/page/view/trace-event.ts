// TraceEvent: which record of an entity's journal a span has stored. Pure.
import type { HistoryStep } from '@svc/contract';

/**
 * The sequence number of the first record that a call of a trace stored; of several calls of one trace, that of the
 * one which began at `startedAt`. Undefined: none of these records is of the trace.
 */
export function eventOfTrace(
  steps: readonly HistoryStep[],
  traceId: string,
  startedAt: string,
): number | undefined {
  const ofTrace = steps.filter((step) => step.traceId === traceId);
  // Clocks of milliseconds: what is stored in the moment in which the call began may well be its own.
  const since = ofTrace.find(
    ({ time }) => time !== null && Date.parse(time) >= Date.parse(startedAt),
  );
  return (since ?? ofTrace.at(-1))?.seq;
}
