// TraceTable: traces as rows: the outcome, the name, and the duration as a bar relative to the slowest displayed
// trace.
import type { TraceSummary } from '@svc/contract';
import { hashOf } from '../route.ts';
import { durationText } from '../view/number-text.ts';
import { visibleLine } from '../view/visible-text.ts';
import { Clock } from './clock.tsx';
import { FaultLine } from './fault-line.tsx';
import { Outcome } from './outcome.tsx';

export function TraceTable({
  instanceId,
  traces,
}: {
  readonly instanceId: string;
  readonly traces: readonly TraceSummary[];
}) {
  const slowestMs = Math.max(...traces.map(({ durationMs }) => durationMs));
  // A request to a route has no entity of its own.
  const hasEntities = traces.some(({ entityId }) => entityId !== null);
  return (
    <table class="rows traces">
      <thead>
        <tr>
          <th>Time</th>
          <th>Outcome</th>
          <th>Name</th>
          {hasEntities && <th>Entity</th>}
          <th class="end">Status</th>
          <th class="end">Spans</th>
          <th class="duration">Duration</th>
        </tr>
      </thead>
      <tbody>
        {traces.map((trace) => (
          <tr key={trace.traceId}>
            <td data-label="Time">
              <Clock time={trace.startedAt} precise />
            </td>
            <td data-label="Outcome">
              <Outcome outcome={trace.outcome} />
            </td>
            <td class="main-cell">
              <a href={hashOf({ screen: 'trace', instanceId, traceId: trace.traceId })} data-row>
                {visibleLine(trace.name)}
              </a>
              {trace.error !== null && (
                <FaultLine reason={trace.error} guestMessage={trace.guestMessage} />
              )}
            </td>
            {hasEntities && (
              <td class="id-cell" data-label="Entity">
                {visibleLine(trace.entityId ?? '')}
              </td>
            )}
            <td class="number end" data-label="Status">
              {trace.status ?? ''}
            </td>
            <td class="number end" data-label="Spans">
              {trace.spans}
            </td>
            <td class="duration number" data-label="Duration">
              <span class="meter" aria-hidden="true">
                <span
                  class={`meter-bar is-${trace.outcome}`}
                  style={{ width: `${Math.max(1, (trace.durationMs / slowestMs) * 100)}%` }}
                />
              </span>
              <span class="amount">{durationText(trace.durationMs)}</span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
