// Consumers: how far the consumers of the service are, and the entities whose events wait for one of them, with the reason.
// Parked events can be delivered again, or skipped with a reason.
import type {
  ConsumerList,
  LaneList,
  ObservedConsumer,
  ObservedLane,
  ServiceDescription,
} from '@svc/contract';
import { useState } from 'preact/hooks';
import { getJson, observed } from '../api.ts';
import { useLoaded } from '../loaded.ts';
import { ChangeButton } from '../parts/change-button.tsx';
import { Clock } from '../parts/clock.tsx';
import { Empty } from '../parts/empty.tsx';
import { PageButtons } from '../parts/page-buttons.tsx';
import { ProblemNote, Waiting } from '../parts/waiting.tsx';
import { entityView, hashOf } from '../route.ts';
import { amountText, countText } from '../view/number-text.ts';
import { visibleLine, visibleText } from '../view/visible-text.ts';

const LISTED_EVERY_MS = 2000;
const LANES_A_PAGE = 50;

export function ConsumersScreen({
  service,
  consumer,
}: {
  readonly service: ServiceDescription;
  readonly consumer: string | undefined;
}) {
  const { instanceId } = service;
  const path = observed(instanceId, 'consumers');
  const { value, problem } = useLoaded<ConsumerList>(path, (signal) => getJson(path, signal), {
    everyMs: LISTED_EVERY_MS,
  });
  const chosen = consumer ?? value?.consumers[0]?.consumer;
  return (
    <>
      <header class="screen-head">
        <h1>Consumers</h1>
      </header>
      {value === undefined && problem === undefined && <Waiting rows={4} />}
      {problem !== undefined && <ProblemNote problem={problem} />}
      {value?.consumers.length === 0 && (
        <Empty title="No consumer has handled an event of this service." />
      )}
      <ul class="work-list">
        {value?.consumers.map((one) => (
          <li key={one.consumer}>
            <ConsumerRow
              consumer={one}
              href={hashOf({ screen: 'consumers', instanceId, consumer: one.consumer })}
              isChosen={one.consumer === chosen}
            />
          </li>
        ))}
      </ul>
      {chosen !== undefined && <Lanes key={chosen} service={service} consumer={chosen} />}
    </>
  );
}

function ConsumerRow({
  consumer: { consumer, start, lagRecords, retrying, parked },
  href,
  isChosen,
}: {
  readonly consumer: ObservedConsumer;
  readonly href: string;
  readonly isChosen: boolean;
}) {
  return (
    <article class={`card work-row ${parked > 0 ? 'is-dead' : ''}`}>
      <p class="work-head">
        <a href={href} aria-current={isChosen ? 'page' : undefined}>
          <strong>{visibleLine(consumer)}</strong>
        </a>
        <span class="dim">from {start}</span>
        <span class="number">
          {lagRecords === 0 ? 'up to date' : `${amountText(lagRecords, 'record')} behind`}
        </span>
        {retrying > 0 && <span class="badge">{countText(retrying)} retrying</span>}
        {parked > 0 && <span class="badge is-dead">{countText(parked)} parked</span>}
      </p>
    </article>
  );
}

function Lanes({
  service,
  consumer,
}: {
  readonly service: ServiceDescription;
  readonly consumer: string;
}) {
  // The pages up to the displayed one, each as the number after which it begins.
  const [pages, setPages] = useState<readonly number[]>([0]);
  const path = `${observed(service.instanceId, 'consumers', consumer)}?limit=${LANES_A_PAGE}&after=${pages.at(-1)!}`;
  const { value, problem, reload } = useLoaded<LaneList>(path, (signal) => getJson(path, signal), {
    everyMs: LISTED_EVERY_MS,
    keepsOld: true,
  });
  return (
    <section aria-labelledby="lanes-title">
      <h2 id="lanes-title">Entities whose events wait for {visibleLine(consumer)}</h2>
      {value === undefined && problem === undefined && <Waiting rows={3} />}
      {problem !== undefined && <ProblemNote problem={problem} />}
      {value?.lanes.length === 0 && <p class="dim empty-line">No events wait.</p>}
      <ul class="work-list">
        {value?.lanes.map((lane) => (
          <li key={`${lane.entity.component}/${lane.entity.id}`}>
            <LaneRow lane={lane} service={service} consumer={consumer} reload={reload} />
          </li>
        ))}
      </ul>
      {value !== undefined && <PageButtons pages={pages} next={value.next} show={setPages} />}
    </section>
  );
}

function LaneRow({
  lane: { entity, event, state, next, attempts, reason },
  service,
  consumer,
  reload,
}: {
  readonly lane: ObservedLane;
  readonly service: ServiceDescription;
  readonly consumer: string;
  readonly reload: () => void;
}) {
  const { instanceId } = service;
  const { component, id } = entity;
  return (
    <article class={`card work-row ${state === 'parked' ? 'is-dead' : ''}`}>
      <p class="work-head">
        <a href={hashOf(entityView(instanceId, component, id, event))}>
          {visibleLine(`${component}/${id}`)}
        </a>
        <span>
          waits at event <span class="number">{event}</span>
        </span>
        <span class={`badge ${state === 'parked' ? 'is-dead' : ''}`}>{state}</span>
        {attempts > 0 && <span class="dim">{amountText(attempts, 'failed attempt')}</span>}
        {next !== null && (
          <span class="dim">
            next attempt <Clock time={next} />
          </span>
        )}
      </p>
      {reason !== null && <p class="work-problem">{visibleText(reason)}</p>}
      {state === 'parked' && (
        <p class="actions">
          <ChangeButton
            service={service}
            path="/consumers/retry"
            change={{ consumer, entity }}
            label="Retry"
            done={reload}
          />
          <ChangeButton
            service={service}
            path="/consumers/skip"
            change={{ consumer, entity, seq: event }}
            label="Skip"
            needsReason
            done={reload}
          />
        </p>
      )}
    </article>
  );
}
