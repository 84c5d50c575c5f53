// Entities: the stored entities of a component, and the selected one: its journal, and the results of its queries.
import type { ServiceDescription } from '@svc/contract';
import { CopyButton } from '../parts/copy.tsx';
import { Empty } from '../parts/empty.tsx';
import { entityView, hashOf, type View } from '../route.ts';
import { visibleLine } from '../view/visible-text.ts';
import { EntityJournalTab } from './entity-journal.tsx';
import { EntityListPanel } from './entity-list.tsx';
import { EntityTimers } from './entity-timers.tsx';
import { EntityNowTab } from './entity-now.tsx';

export type EntitiesView = Extract<View, { readonly screen: 'entities' }>;

export function EntitiesScreen({
  service,
  view,
}: {
  readonly service: ServiceDescription;
  readonly view: EntitiesView;
}) {
  const { instanceId, components } = service;
  const component = view.component ?? components[0]?.component;
  if (component === undefined)
    return (
      <>
        <header class="screen-head">
          <h1>Entities</h1>
        </header>
        <Empty title="This module has no entity.">
          <p class="dim">
            Endpoints store nothing. Declare an event-sourced entity to store events.
          </p>
        </Empty>
      </>
    );
  return (
    <>
      <header class="screen-head">
        <h1>Entities</h1>
      </header>
      <div class={`split is-entities ${view.id === undefined ? '' : 'has-detail'}`}>
        <section class="split-list" aria-label="Stored entities">
          <EntityListPanel
            key={component}
            service={service}
            component={component}
            chosenId={view.id}
          />
        </section>
        <section class="split-detail" aria-label="Entity">
          {view.id === undefined ? (
            <Empty title="Choose an entity.">
              <p class="dim">
                Or type any id: one that was never used shows the empty state it would begin with.
              </p>
            </Empty>
          ) : (
            <>
              <a class="back" href={hashOf(entityView(instanceId, component))} data-back>
                All entities
              </a>
              <Entity service={service} view={view} component={component} id={view.id} />
            </>
          )}
        </section>
      </div>
    </>
  );
}

function Entity({
  service,
  view,
  component,
  id,
}: {
  readonly service: ServiceDescription;
  readonly view: EntitiesView;
  readonly component: string;
  readonly id: string;
}) {
  const { instanceId } = service;
  const queries = service.components.find((one) => one.component === component)?.queries ?? [];
  const now: View = { ...view, component, tab: 'now', query: queries[0]?.name ?? '' };
  const key = `${component}\n${id}`;
  return (
    <>
      <header class="entity-head">
        <h2>
          <span class="dim">{visibleLine(component)}</span> {visibleLine(id)}
          <CopyButton text={id} what="id" />
        </h2>
        <nav class="tabs" aria-label="Entity">
          <a
            href={hashOf(entityView(instanceId, component, id))}
            aria-current={view.tab === 'journal' ? 'page' : undefined}
          >
            Journal
          </a>
          <a href={hashOf(now)} aria-current={view.tab === 'now' ? 'page' : undefined}>
            Now
          </a>
        </nav>
      </header>
      {view.tab === 'now' ? (
        <EntityNowTab
          key={key}
          service={service}
          component={component}
          id={id}
          chosen={view.query}
        />
      ) : (
        <>
          <EntityTimers key={`timers ${key}`} service={service} component={component} id={id} />
          <EntityJournalTab
            key={key}
            service={service}
            component={component}
            id={id}
            at={view.at}
          />
        </>
      )}
    </>
  );
}
