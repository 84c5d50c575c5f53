// EntityTimers: the timers that belong to an entity, above its journal; nothing if there are none.
import type { ServiceDescription, TimerList } from '@svc/contract';
import { getJson, observed } from '../api.ts';
import { useLoaded } from '../loaded.ts';
import { amountText } from '../view/number-text.ts';
import { TimerRow } from './timers.tsx';

const LISTED_EVERY_MS = 3000;
const TIMERS_SHOWN = 20;

export function EntityTimers({
  service,
  component,
  id,
}: {
  readonly service: ServiceDescription;
  readonly component: string;
  readonly id: string;
}) {
  const owner = new URLSearchParams({ component, id, limit: String(TIMERS_SHOWN) });
  const path = `${observed(service.instanceId, 'timers')}?${owner}`;
  const { value, reload } = useLoaded<TimerList>(path, (signal) => getJson(path, signal), {
    everyMs: LISTED_EVERY_MS,
  });
  if (value === undefined || value.timers.length === 0) return null;
  const more = value.next === null ? '' : 'more than ';
  return (
    <details class="entity-timers">
      <summary>{more + amountText(value.timers.length, 'timer')}</summary>
      <ul class="work-list">
        {value.timers.map((timer) => (
          <li key={timer.number}>
            <TimerRow timer={timer} service={service} reload={reload} />
          </li>
        ))}
      </ul>
    </details>
  );
}
