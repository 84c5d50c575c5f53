// TraceEvent: finds the record of an entity's journal that a span has stored. The function is pure.
import type { HistoryStep } from '@svc/contract';

/**
 * Returns the sequence number of the first record that a call of a trace has stored. The call began at `startedAt`, so
 * earlier records are those of other calls of the trace; if all are earlier, the last of them is returned. Undefined:
 * none of the records in `steps` belongs to the trace.
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
