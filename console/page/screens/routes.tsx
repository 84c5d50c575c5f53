// Routes: the list of the routes of a service, and the form of the selected route.
import type { ServiceDescription, ServiceRoute } from '@svc/contract';
import { useState } from 'preact/hooks';
import { Empty } from '../parts/empty.tsx';
import { RouteLabel } from '../parts/route-label.tsx';
import { hashOf, type RouteName } from '../route.ts';
import { visibleLine } from '../view/visible-text.ts';
import { RouteForm } from './route-form.tsx';

export function RoutesScreen({
  service,
  route: chosen,
}: {
  readonly service: ServiceDescription;
  readonly route: RouteName | undefined;
}) {
  const [filter, setFilter] = useState('');
  const { routes, instanceId } = service;
  if (routes.length === 0) return <NoRoute />;
  const wanted = filter.toLowerCase();
  const shown = routes.filter((route) =>
    `${route.method} ${route.path} ${route.endpoint} ${route.handler}`
      .toLowerCase()
      .includes(wanted),
  );
  const route =
    chosen === undefined
      ? undefined
      : routes.find(({ method, path }) => method === chosen.method && path === chosen.path);
  const endpoints = Map.groupBy(shown, (one) => one.endpoint);
  return (
    <>
      <header class="screen-head">
        <h1>Routes</h1>
      </header>
      <div class={`split ${chosen === undefined ? '' : 'has-detail'}`}>
        <section class="split-list" aria-label="All routes">
          <input
            type="search"
            class="filter"
            placeholder="Filter routes"
            aria-label="Filter routes"
            data-filter
            value={filter}
            onInput={(event) => setFilter(event.currentTarget.value)}
          />
          {shown.length === 0 && <p class="dim">No route matches.</p>}
          {[...endpoints].map(([endpoint, ofEndpoint]) => (
            <div key={endpoint}>
              <h2 class="group-title">{visibleLine(endpoint)}</h2>
              <ul class="route-list">
                {ofEndpoint.map((one) => (
                  <li key={`${one.method} ${one.path}`}>
                    <a
                      href={hashOf({ screen: 'routes', instanceId, route: one })}
                      aria-current={one === route ? 'true' : undefined}
                      data-row
                    >
                      <RouteLabel route={one} />
                      {one.access !== 'internet' && (
                        <span class="access" title={`May be called by: ${one.access}`}>
                          {visibleLine(one.access)}
                        </span>
                      )}
                      {one.bearer === true && (
                        <span class="access" title="Asks its callers for an access token">
                          token
                        </span>
                      )}
                    </a>
                  </li>
                ))}
              </ul>
            </div>
          ))}
        </section>
        <section class="split-detail" aria-label="Request">
          <Chosen service={service} chosen={chosen} route={route} />
        </section>
      </div>
    </>
  );
}

function Chosen({
  service,
  chosen,
  route,
}: {
  readonly service: ServiceDescription;
  readonly chosen: RouteName | undefined;
  readonly route: ServiceRoute | undefined;
}) {
  const back = (
    <a
      class="back"
      href={hashOf({ screen: 'routes', instanceId: service.instanceId, route: undefined })}
      data-back
    >
      All routes
    </a>
  );
  if (chosen === undefined)
    return (
      <Empty title="Choose a route.">
        <p class="dim">Its form is made of the types that the module declares.</p>
      </Empty>
    );
  if (route === undefined)
    return (
      <>
        {back}
        <Empty title={`${chosen.method} ${visibleLine(chosen.path)} is no longer served.`} />
      </>
    );
  return (
    <>
      {back}
      <RouteForm service={service} route={route} key={`${route.method} ${route.path}`} />
    </>
  );
}

const ENDPOINT_SNIPPET = `@endpoint("/hello")
@access("internet")
class Hello {
  @get
  hello(): string { return "Hello, world!"; }
}`;

function NoRoute() {
  return (
    <>
      <header class="screen-head">
        <h1>Routes</h1>
      </header>
      <Empty title="This module serves no routes.">
        <p>Declare an endpoint in it, and register it:</p>
        <pre class="snippet">{ENDPOINT_SNIPPET}</pre>
      </Empty>
    </>
  );
}
