// Services: the services of this machine, each with the requests of its last minute.
import type { LiveNumbers } from '@svc/contract';
import { getJson, observed } from '../api.ts';
import { useLoaded } from '../loaded.ts';
import { CopyButton } from '../parts/copy.tsx';
import { CommandLine, Empty } from '../parts/empty.tsx';
import { Sparkline } from '../parts/plot.tsx';
import { Waiting } from '../parts/waiting.tsx';
import { hashOf } from '../route.ts';
import { consoleEndedMs, nowMs, serviceList, services } from '../store.ts';
import type { KnownService } from '../view/known-services.ts';
import { recentNumbers } from '../view/latency-scale.ts';
import { amountText, countText, spanText } from '../view/number-text.ts';
import { clockText } from '../view/time-text.ts';
import { visibleLine } from '../view/visible-text.ts';

const LIVE_EVERY_MS = 2000;

export function ServicesScreen() {
  const list = serviceList.value;
  const known = services.value;
  return (
    <>
      <header class="screen-head">
        <h1>Services</h1>
        {list !== undefined && known.length > 0 && (
          <span class="dim">{amountText(known.length, 'service')} on this machine</span>
        )}
      </header>
      {list === undefined && consoleEndedMs.value === undefined && <Waiting rows={4} />}
      {list?.problem != null && (
        <p class="problem-note" role="status">
          {visibleLine(list.folder)} cannot be read: {visibleLine(list.problem)}
        </p>
      )}
      {list?.problem === null && known.length === 0 && <NoService folder={list.folder} />}
      <ul class="cards">
        {known.map((service) => (
          <li key={service.instanceId}>
            <ServiceCard service={service} />
          </li>
        ))}
      </ul>
      {list !== undefined && known.length === 0 && list.unanswered > 0 && (
        <p class="dim">
          {list.unanswered === 1
            ? `1 file in ${list.folder} belongs to a service that does not answer.`
            : `${countText(list.unanswered)} files in ${list.folder} belong to services that do not answer.`}
        </p>
      )}
    </>
  );
}

function NoService({ folder }: { readonly folder: string }) {
  return (
    <Empty title="No service is running on this machine.">
      <p>Start one, and it appears here by itself:</p>
      <CommandLine line="npx svc new my-service" />
      <CommandLine line="npx svc dev my-service" />
      <CommandLine line="npx svc run my-service.wasm" />
      <p class="dim">
        Looked in <code>{visibleLine(folder)}</code> (svc.running.dir).
      </p>
    </Empty>
  );
}

function ServiceCard({ service }: { readonly service: KnownService }) {
  const { instanceId, name, address, pid, startedAt, state } = service;
  const live = useLoaded<LiveNumbers>(
    state === 'running' ? instanceId : undefined,
    (signal) => getJson(observed(instanceId, 'live'), signal),
    { everyMs: LIVE_EVERY_MS },
  ).value;
  const minute = live?.seconds.slice(-60) ?? [];
  const { failed, timedOut } = recentNumbers(minute, 60);
  const lately = recentNumbers(minute, 5).requests / Math.max(1, Math.min(5, minute.length));
  const isGone = state === 'gone';
  return (
    <article class={`card service-card ${isGone ? 'is-gone' : ''}`}>
      <header>
        <h2>
          <a href={hashOf({ screen: 'overview', instanceId })} data-row>
            {visibleLine(name)}
          </a>
        </h2>
        <span class={`state is-${state}`}>
          <span aria-hidden="true">{isGone ? '○' : '●'}</span>{' '}
          {isGone ? `ended ${clockText(service.endedMs ?? nowMs.value, nowMs.value)}` : 'running'}
        </span>
      </header>
      <p class="address">
        {address === null ? (
          <span class="dim">serves no HTTP</span>
        ) : (
          <>
            <code>{address}</code>
            <CopyButton text={address} what="address" />
          </>
        )}
      </p>
      <Sparkline requests={minute.map((one) => one.requests)} />
      <dl class="facts">
        <div>
          <dt>requests/s</dt>
          <dd class="number">{lately >= 10 ? countText(lately) : lately.toFixed(1)}</dd>
        </div>
        <div>
          <dt>failed, last minute</dt>
          <dd class={`number ${failed + timedOut > 0 ? 'is-Failed' : ''}`}>
            {countText(failed + timedOut)}
          </dd>
        </div>
        <div>
          <dt>since</dt>
          <dd class="number">{spanText(nowMs.value - new Date(startedAt).getTime())}</dd>
        </div>
        <div>
          <dt>process</dt>
          <dd class="number">{pid}</dd>
        </div>
      </dl>
      {service.problem !== null && <p class="problem-note">{visibleLine(service.problem)}</p>}
    </article>
  );
}
