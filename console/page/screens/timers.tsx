// Timers: the timers of the service, in the order in which they were set, a page at a time. Dead ones can be retried, and all
// can be cancelled.
import type { ObservedTimer, ServiceDescription, TimerList } from '@svc/contract';
import { useState } from 'preact/hooks';
import { getJson, observed } from '../api.ts';
import { useLoaded } from '../loaded.ts';
import { ChangeButton } from '../parts/change-button.tsx';
import { Clock } from '../parts/clock.tsx';
import { Empty } from '../parts/empty.tsx';
import { PageButtons } from '../parts/page-buttons.tsx';
import { ProblemNote, Waiting } from '../parts/waiting.tsx';
import { entityView, hashOf } from '../route.ts';
import { amountText } from '../view/number-text.ts';
import { visibleLine, visibleText } from '../view/visible-text.ts';

const LISTED_EVERY_MS = 2000;
const TIMERS_A_PAGE = 50;
const STATES = [undefined, 'pending', 'dead'] as const;

export function TimersScreen({
  service,
  state,
}: {
  readonly service: ServiceDescription;
  readonly state: 'pending' | 'dead' | undefined;
}) {
  const { instanceId } = service;
  // The pages up to the displayed one, each as the number after which it begins.
  const [pages, setPages] = useState<readonly number[]>([0]);
  const filter = state === undefined ? '' : `&state=${state}`;
  const path = `${observed(instanceId, 'timers')}?limit=${TIMERS_A_PAGE}&after=${pages.at(-1)!}${filter}`;
  const { value, problem, reload } = useLoaded<TimerList>(path, (signal) => getJson(path, signal), {
    everyMs: LISTED_EVERY_MS,
    keepsOld: true,
  });
  return (
    <>
      <header class="screen-head">
        <h1>Timers</h1>
        <nav class="tabs" aria-label="State of the timers">
          {STATES.map((one) => (
            <a
              key={one ?? 'all'}
              href={hashOf({ screen: 'timers', instanceId, state: one })}
              aria-current={one === state ? 'page' : undefined}
              onClick={() => setPages([0])}
            >
              {one ?? 'all'}
            </a>
          ))}
        </nav>
      </header>
      {value === undefined && problem === undefined && <Waiting rows={6} />}
      {problem !== undefined && <ProblemNote problem={problem} />}
      {value !== undefined && value.damaged > 0 && (
        <p class="problem-note" role="status">
          {amountText(value.damaged, 'damaged timer')} of this page cannot be shown. svc journal
          verify names them.
        </p>
      )}
      {value?.timers.length === 0 && (
        <Empty
          title={state === 'dead' ? 'No timer is dead. That is good.' : 'There is no timer.'}
        />
      )}
      <ul class="work-list">
        {value?.timers.map((timer) => (
          <li key={timer.number}>
            <TimerRow timer={timer} service={service} reload={reload} />
          </li>
        ))}
      </ul>
      {value !== undefined && <PageButtons pages={pages} next={value.next} show={setPages} />}
    </>
  );
}

export function TimerRow({
  timer,
  service,
  reload,
}: {
  readonly timer: ObservedTimer;
  readonly service: ServiceDescription;
  readonly reload: () => void;
}) {
  const { owner, name, target, command, state, due, next, attempts, schedule, fault } = timer;
  const { instanceId } = service;
  const change = { owner, name };
  return (
    <article class={`card work-row is-${state}`}>
      <p class="work-head">
        <strong>{visibleLine(name)}</strong>
        {owner === null ? (
          <span class="dim">of the service</span>
        ) : (
          <a href={hashOf(entityView(instanceId, owner.component, owner.id))}>
            {visibleLine(`${owner.component}/${owner.id}`)}
          </a>
        )}
        <span class={`badge is-${state}`}>{state}</span>
        {schedule !== null && <code>{visibleLine(schedule)}</code>}
      </p>
      <p>
        sends <code>{visibleLine(command)}</code> to{' '}
        <a href={hashOf(entityView(instanceId, target.component, target.id))}>
          {visibleLine(`${target.component}/${target.id}`)}
        </a>
        {due !== null && (
          <>
            , due <Clock time={due} />
          </>
        )}
        {next !== null && next !== due && (
          <>
            , next attempt <Clock time={next} />
          </>
        )}
        {attempts > 0 && `, ${amountText(attempts, 'failed attempt')}`}
      </p>
      {fault !== null && <p class="work-problem">{visibleText(fault)}</p>}
      <p class="actions">
        {state === 'dead' && (
          <ChangeButton
            service={service}
            path="/timers/retry"
            change={change}
            label="Retry"
            done={reload}
          />
        )}
        <ChangeButton
          service={service}
          path="/timers/cancel"
          change={change}
          label="Cancel"
          done={reload}
        />
      </p>
    </article>
  );
}
