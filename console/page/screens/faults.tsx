// Faults: the newest failures since the service started; those of the same code, handler and source location are one
// row, unless the user wants a row for each.
import type { FaultList, ServiceDescription } from '@svc/contract';
import { useState } from 'preact/hooks';
import { getJson, observed } from '../api.ts';
import { useLoaded } from '../loaded.ts';
import { Clock } from '../parts/clock.tsx';
import { Empty } from '../parts/empty.tsx';
import { FaultLine } from '../parts/fault-line.tsx';
import { FaultPanel } from '../parts/fault-panel.tsx';
import { RouteLabel } from '../parts/route-label.tsx';
import { ProblemNote, Waiting } from '../parts/waiting.tsx';
import { entityView, hashOf } from '../route.ts';
import { nowMs } from '../store.ts';
import { faultAdvice, locationText } from '../view/fault-advice.ts';
import { faultCauses, faultName, groupFaults, type FaultGroup } from '../view/fault-causes.ts';
import { amountText, countText } from '../view/number-text.ts';
import { clockText } from '../view/time-text.ts';
import { visibleLine } from '../view/visible-text.ts';

const POLLED_EVERY_MS = 3000;
const FAULTS_MAX = 200;

export function FaultsScreen({ service }: { readonly service: ServiceDescription }) {
  const { instanceId } = service;
  const [isGrouped, setGrouped] = useState(true);
  const [openKey, setOpen] = useState<string | undefined>(undefined);
  const { value: list, problem } = useLoaded<FaultList>(
    instanceId,
    (signal) => getJson(`${observed(instanceId, 'faults')}?limit=${FAULTS_MAX}`, signal),
    { everyMs: POLLED_EVERY_MS },
  );
  const causes = faultCauses(list?.faults ?? [], service.routes);
  const groups = isGrouped
    ? groupFaults(causes)
    : causes.map((newest, at) => ({ key: `${newest.fault.at} ${at}`, newest, count: 1 }));
  return (
    <>
      <header class="screen-head">
        <h1>Faults</h1>
        {causes.length > 0 && (
          <>
            <span class="dim">{amountText(causes.length, 'fault')}</span>
            <label class="check">
              <input
                type="checkbox"
                checked={isGrouped}
                onChange={(event) => setGrouped(event.currentTarget.checked)}
              />
              Same place, one row
            </label>
          </>
        )}
      </header>
      {list === undefined && problem === undefined && <Waiting rows={5} />}
      {problem !== undefined && <ProblemNote problem={problem} />}
      {list !== undefined && list.silentShards.length > 0 && (
        <p class="problem-note" role="status">
          {amountText(list.silentShards.length, 'shard')} did not answer in time: faults are missing
          here.
        </p>
      )}
      {list?.faults.length === 0 && (
        <Empty title="No guest fault since this service started. That is good." />
      )}
      <ul class="fault-list">
        {groups.map((group) => (
          <li key={group.key}>
            <FaultRow
              group={group}
              service={service}
              isOpen={group.key === openKey}
              toggle={() => setOpen(group.key === openKey ? undefined : group.key)}
            />
          </li>
        ))}
      </ul>
    </>
  );
}

function FaultRow({
  group,
  service,
  isOpen,
  toggle,
}: {
  readonly group: FaultGroup;
  readonly service: ServiceDescription;
  readonly isOpen: boolean;
  readonly toggle: () => void;
}) {
  const { newest, count } = group;
  const { route } = newest;
  const { at, fault, outcome, traceId, entityId, component } = newest.fault;
  const { instanceId } = service;
  const location = fault.places[0];
  return (
    <article class={`card fault-row is-${outcome}`}>
      <button type="button" class="fault-summary" aria-expanded={isOpen} data-row onClick={toggle}>
        <Clock time={at} />
        <span class="fault-word">{faultAdvice(fault, false).word}</span>
        {component !== '' && <span class="name">{visibleLine(faultName(newest.fault))}</span>}
        {location !== undefined && <code class="place">{visibleLine(locationText(location))}</code>}
        {route !== undefined && <RouteLabel route={route} />}
        {count > 1 && <span class="badge">{countText(count)}×</span>}
        <FaultLine {...fault} />
      </button>
      {isOpen && (
        <div class="fault-detail">
          <FaultPanel fault={fault} outcome={outcome} />
          <p class="actions">
            {traceId !== null && (
              <a href={hashOf({ screen: 'trace', instanceId, traceId })}>Trace</a>
            )}
            {entityId !== null && (
              <a href={hashOf(entityView(instanceId, component, entityId))}>
                {visibleLine(entityId)}
              </a>
            )}
            {count > 1 && (
              <span class="dim">
                the last at {clockText(at, nowMs.value)}, {countText(count)} times in all
              </span>
            )}
          </p>
        </div>
      )}
    </article>
  );
}
