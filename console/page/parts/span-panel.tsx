// SpanPanel: all details of one span.
import type { ServiceDescription, Span } from '@svc/contract';
import { useLoaded } from '../loaded.ts';
import { entityView, hashOf } from '../route.ts';
import { ownAnswer } from '../view/answer-reason.ts';
import { storedBy } from '../trace-events.ts';
import { amountText, countText, durationText } from '../view/number-text.ts';
import { visibleLine } from '../view/visible-text.ts';
import { Clock } from './clock.tsx';
import { FaultPanel } from './fault-panel.tsx';
import { Outcome } from './outcome.tsx';

export function SpanPanel({
  span,
  traceId,
  service,
}: {
  readonly span: Span;
  readonly traceId: string;
  readonly service: ServiceDescription;
}) {
  const { instanceId } = service;
  const hasStored = span.entityId !== null && span.events > 0;
  const seq = useLoaded(hasStored ? span.spanId : undefined, (signal) =>
    storedBy(span, traceId, instanceId, signal),
  ).value;
  // The span of a consumer has the entity of the event that it handles.
  const entityComponent = span.kind === 'consumer' ? span.handler : span.component;
  const isEntity = service.components.some(({ component }) => component === entityComponent);
  return (
    <aside class="span-panel card" aria-label="Chosen span">
      <h2>{visibleLine(`${span.component}.${span.handler}`)}</h2>
      {span.fault !== null && <FaultPanel fault={span.fault} outcome={span.outcome} />}
      {span.fault === null && span.outcome !== 'Ok' && (
        <p class="dim">{visibleLine(ownAnswer(span, span.status))}</p>
      )}
      <dl class="words">
        <dt>outcome</dt>
        <dd>
          <Outcome outcome={span.outcome} />
          {span.status !== null && <span class="number"> {span.status}</span>}
        </dd>
        <dt>kind</dt>
        <dd>{span.kind}</dd>
        {span.entityId !== null && (
          <>
            <dt>entity</dt>
            <dd>
              {isEntity ? (
                <a href={hashOf(entityView(instanceId, entityComponent, span.entityId, seq))}>
                  {visibleLine(span.entityId)}
                </a>
              ) : (
                visibleLine(span.entityId)
              )}
            </dd>
          </>
        )}
        <dt>duration</dt>
        <dd class="number">{durationText(span.durationMs)}</dd>
        <dt>began</dt>
        <dd>
          <Clock time={span.startedAt} precise />{' '}
          <span class="dim number">{durationText(span.offsetMs)} after the start</span>
        </dd>
        <dt>fuel</dt>
        <dd class="number">{span.fuel === null ? '–' : countText(span.fuel)}</dd>
        {(span.kind === 'command' || span.kind === 'firing') && (
          <>
            <dt>stored</dt>
            <dd class="number">{amountText(span.events, 'event')}</dd>
          </>
        )}
        <dt>shard</dt>
        <dd class="number">{span.shard}</dd>
        <dt>span id</dt>
        <dd>
          <code>{span.spanId}</code>
        </dd>
      </dl>
    </aside>
  );
}
