// TraceEvent: finds the record of an entity's journal that a span has stored. The functions are pure.
import type { HistoryStep } from '@svc/contract';

/**
 * Returns the sequence number of the first record that a call of a trace has stored. If the trace has several calls,
 * this is the call that began at `startedAt`. Undefined: none of these records belongs to the trace.
 */
export function eventOfTrace(
  steps: readonly HistoryStep[],
  traceId: string,
  startedAt: string,
): number | undefined {
  const ofTrace = steps.filter((step) => step.traceId === traceId);
  // Clocks count milliseconds, so a record stored in the millisecond in which the call began may be its own.
  const since = ofTrace.find(
    ({ time }) => time !== null && Date.parse(time) >= Date.parse(startedAt),
  );
  return (since ?? ofTrace.at(-1))?.seq;
}
