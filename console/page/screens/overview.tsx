// Overview: the most important facts about a service: its identity, its current load and latency, its components, and
// its latest failures.
import type { FaultList, LiveNumbers, ObservedComponent, ServiceDescription } from '@svc/contract';
import { getJson, observed } from '../api.ts';
import { useLoaded } from '../loaded.ts';
import { Clock } from '../parts/clock.tsx';
import { CommandLine } from '../parts/empty.tsx';
import { Fact, ServiceFacts } from '../parts/facts.tsx';
import { FaultLine } from '../parts/fault-line.tsx';
import { LatencyPlot } from '../parts/plot.tsx';
import { RouteLabel } from '../parts/route-label.tsx';
import { Waiting } from '../parts/waiting.tsx';
import { curlLine } from '../form/call-text.ts';
import { callRequest, exampleCall } from '../form/call-draft.ts';
import { entityView, hashOf } from '../route.ts';
import { codeWord, locationText } from '../view/fault-advice.ts';
import { faultCauses, faultName } from '../view/fault-causes.ts';
import { recentNumbers } from '../view/latency-scale.ts';
import { limitLabel } from '../view/limit-label.ts';
import { bytesText, countText } from '../view/number-text.ts';
import { visibleLine } from '../view/visible-text.ts';

const LIVE_EVERY_MS = 1000;
const FAULTS_EVERY_MS = 3000;
const FAULTS_SHOWN = 5;

export function OverviewScreen({ service }: { readonly service: ServiceDescription }) {
  const { instanceId } = service;
  const live = useLoaded<LiveNumbers>(
    instanceId,
    (signal) => getJson(observed(instanceId, 'live'), signal),
    { everyMs: LIVE_EVERY_MS },
  ).value;
  return (
    <>
      <header class="screen-head">
        <h1>{visibleLine(service.name)}</h1>
        {service.dev && <span class="badge">svc dev</span>}
        <span class="dim instance">
          process <span class="number">{service.pid}</span> · instance{' '}
          <code>{service.instanceId}</code>
        </span>
      </header>
      <Facts service={service} />
      <div class="columns">
        <section aria-labelledby="live-title">
          <h2 id="live-title">Live</h2>
          {live === undefined ? <Waiting rows={9} /> : <Live live={live} service={service} />}
          <LastFaults service={service} />
          {live !== undefined && <Totals totals={live.totals} />}
        </section>
        <section aria-labelledby="components-title">
          <h2 id="components-title">Components</h2>
          {service.components.map((component) => (
            <ComponentPanel key={component.component} component={component} service={service} />
          ))}
          {service.components.length === 0 && <p class="dim">This service has no entity.</p>}
          <h2>Routes</h2>
          <RouteList service={service} />
        </section>
      </div>
    </>
  );
}

function Facts({ service }: { readonly service: ServiceDescription }) {
  const { codeProcess } = service;
  const fingerprint = service.module?.fingerprint ?? '–';
  return (
    <>
      <ServiceFacts service={service}>
        <Fact name={codeProcess === undefined ? 'module' : 'code'}>
          <code title={fingerprint}>{fingerprint.slice(0, 12)}</code>
        </Fact>
        {codeProcess !== undefined && (
          <Fact name="hosting" class={codeProcess.problem === null ? '' : 'is-Failed'}>
            {codeProcess.problem === null ? 'process at ' : 'process, away, at '}
            <code>{visibleLine(codeProcess.address)}</code>
          </Fact>
        )}
        <Fact name="SDK" class="number">
          {visibleLine(codeProcess?.sdk ?? service.module?.sdk ?? '–')}
        </Fact>
      </ServiceFacts>
      {codeProcess !== undefined && codeProcess.problem !== null && (
        <p class="is-Failed" role="status">
          {visibleLine(codeProcess.problem)} Calls are answered with 503 until it is back.
        </p>
      )}
    </>
  );
}

function Live({
  live,
  service,
}: {
  readonly live: LiveNumbers;
  readonly service: ServiceDescription;
}) {
  // The last second may be incomplete, so the rate is the mean of up to five seconds.
  const seconds = Math.max(1, Math.min(5, live.seconds.length));
  const now = recentNumbers(live.seconds, seconds);
  const tiles = [
    ['requests/s', now.requests, ''],
    ['refused/s', now.refused, 'Refused'],
    ['failed/s', now.failed, 'Failed'],
    ['timed out/s', now.timedOut, 'TimedOut'],
  ] as const;
  const isUnused = live.seconds.every(({ requests }) => requests === 0);
  return (
    <>
      <dl class="tiles">
        {tiles.map(([name, amount, outcome]) => (
          <div key={name} class={amount > 0 && outcome !== '' ? `tile is-${outcome}` : 'tile'}>
            <dt>{name}</dt>
            <dd>{rateText(amount / seconds)}</dd>
          </div>
        ))}
      </dl>
      <LatencyPlot seconds={live.seconds} />
      {isUnused && <FirstRequest service={service} />}
    </>
  );
}

function FirstRequest({ service }: { readonly service: ServiceDescription }) {
  const { instanceId, routes } = service;
  const route = routes.find(({ method }) => method === 'GET') ?? routes[0];
  const address = service.instances[0]?.address;
  if (route === undefined) return null;
  const call = callRequest(exampleCall(route, service.types), route);
  return (
    <div class="hint">
      <p>
        No request in the last two minutes. Send one:{' '}
        <a href={hashOf({ screen: 'routes', instanceId, route })}>
          <RouteLabel route={route} />
        </a>
      </p>
      {address != null && <CommandLine line={curlLine(address, call)} />}
    </div>
  );
}

/** The totals that users look for first, by the names of their series; /svc/metrics has all of them. */
const TOTALS: readonly (readonly [string, string, (amount: number) => string])[] = [
  ['svc_entities_in_memory', 'entities in memory', countText],
  ['svc_journal_events_total', 'events stored', countText],
  ['svc_journal_bytes', 'journal', bytesText],
  ['svc_shards_listening', 'shards', countText],
  ['svc_guest_memory_bytes', 'guest memory', bytesText],
  ['svc_recorder_spans_recorded_total', 'spans recorded', countText],
];

function Totals({ totals }: { readonly totals: LiveNumbers['totals'] }) {
  const limits = Object.entries(totals).filter(
    ([name, count]) => count > 0 && limitLabel(name) !== undefined,
  );
  return (
    <>
      <h2>Since it started</h2>
      <dl class="facts is-row totals">
        {TOTALS.filter(([name]) => totals[name] !== undefined).map(([name, label, text]) => (
          <div key={name} title={name}>
            <dt>{label}</dt>
            <dd class="number">{text(totals[name]!)}</dd>
          </div>
        ))}
        {limits.map(([name, count]) => (
          <div key={name} title={name}>
            <dt>{visibleLine(limitLabel(name)!)}</dt>
            <dd class="number is-Failed">{countText(count)}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

function LastFaults({ service }: { readonly service: ServiceDescription }) {
  const { instanceId, routes } = service;
  const list = useLoaded<FaultList>(
    instanceId,
    // If a request fails because of a call, the list has a fault of each; `faultCauses` keeps one of the two.
    (signal) => getJson(`${observed(instanceId, 'faults')}?limit=${2 * FAULTS_SHOWN}`, signal),
    { everyMs: FAULTS_EVERY_MS },
  ).value;
  const causes = faultCauses(list?.faults ?? [], routes).slice(0, FAULTS_SHOWN);
  return (
    <>
      <h2>Last faults</h2>
      {list === undefined && <Waiting rows={2} />}
      {list?.faults.length === 0 && <p class="dim">None since this service started.</p>}
      <ul class="plain-list">
        {causes.map(({ fault }, at) => {
          const location = fault.fault.places[0];
          return (
            <li key={`${fault.at}${at}`}>
              <p class="fault-head">
                <Clock time={fault.at} />
                {fault.traceId === null ? (
                  <span>{visibleLine(faultName(fault))}</span>
                ) : (
                  <a
                    href={hashOf({ screen: 'trace', instanceId, traceId: fault.traceId })}
                    data-row
                  >
                    {visibleLine(faultName(fault))}
                  </a>
                )}
                <span class={`is-${fault.outcome}`}>{codeWord(fault.fault.code)}</span>
                {location !== undefined && (
                  <code class="dim">{visibleLine(locationText(location))}</code>
                )}
              </p>
              <FaultLine {...fault.fault} />
            </li>
          );
        })}
      </ul>
      {causes.length > 0 && (
        <p>
          <a href={hashOf({ screen: 'faults', instanceId })}>All faults</a>
        </p>
      )}
    </>
  );
}

function ComponentPanel({
  component,
  service,
}: {
  readonly component: ObservedComponent;
  readonly service: ServiceDescription;
}) {
  const { instanceId } = service;
  const entities = entityView(instanceId, component.component);
  return (
    <article class="card component">
      <header>
        <h3>
          <a href={hashOf(entities)} data-row>
            {visibleLine(component.component)}
          </a>
        </h3>
        <span class="dim">entity</span>
      </header>
      <dl class="words">
        <dt>commands</dt>
        <dd>
          <Names names={component.commands.map(({ name }) => name)} />
          {component.commands.length > 0 && <span class="dim through"> through routes</span>}
        </dd>
        <dt>queries</dt>
        <dd>
          <Names names={component.queries.map(({ name }) => name)} />
        </dd>
        <dt>state</dt>
        <dd>
          <code>{visibleLine(component.state.manifest)}</code>
        </dd>
        <dt>events</dt>
        <dd>
          <code>{visibleLine(component.event.manifest)}</code>
        </dd>
      </dl>
    </article>
  );
}

function Names({ names }: { readonly names: readonly string[] }) {
  if (names.length === 0) return <span class="dim">none</span>;
  return (
    <>
      {names.map((name) => (
        <code class="chip" key={name}>
          {visibleLine(name)}
        </code>
      ))}
    </>
  );
}

function RouteList({ service }: { readonly service: ServiceDescription }) {
  const { instanceId, routes } = service;
  if (routes.length === 0) return <p class="dim">This module serves no routes.</p>;
  return (
    <ul class="route-list card">
      {routes.slice(0, 30).map((route) => (
        <li key={`${route.method} ${route.path}`}>
          <a href={hashOf({ screen: 'routes', instanceId, route })}>
            <RouteLabel route={route} />
          </a>
        </li>
      ))}
      {routes.length > 30 && (
        <li>
          <a href={hashOf({ screen: 'routes', instanceId, route: undefined })}>
            All {countText(routes.length)}
          </a>
        </li>
      )}
    </ul>
  );
}

function rateText(perSecond: number): string {
  return perSecond >= 10 || perSecond === 0 ? countText(perSecond) : perSecond.toFixed(1);
}
