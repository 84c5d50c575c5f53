// The stored entities of a component, and the one that is chosen: its journal, and what it says of itself now.
import type { EntityList, ServiceDescription, StoredEntity } from '@svc/contract';
import { useEffect, useState } from 'preact/hooks';
import { getJson, observed } from '../api.ts';
import { problemOf, useLoaded } from '../loaded.ts';
import { Clock } from '../parts/clock.tsx';
import { CopyButton } from '../parts/copy.tsx';
import { Empty } from '../parts/empty.tsx';
import { ProblemNote, Waiting } from '../parts/waiting.tsx';
import { entityView, hashOf, type View } from '../route.ts';
import { go } from '../store.ts';
import { amountText } from '../view/number-text.ts';
import { visibleLine } from '../view/visible-text.ts';
import { EntityJournalTab } from './entity-journal.tsx';
import { EntityNowTab } from './entity-now.tsx';

export type EntitiesView = Extract<View, { readonly screen: 'entities' }>;

const ENTITIES_A_PAGE = 50;
const LISTED_EVERY_MS = 3000;

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
            Endpoints keep nothing. Declare an event-sourced entity to store events.
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
          <StoredEntities
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
        <EntityJournalTab key={key} service={service} component={component} id={id} at={view.at} />
      )}
    </>
  );
}

function StoredEntities({
  service,
  component,
  chosenId,
}: {
  readonly service: ServiceDescription;
  readonly component: string;
  readonly chosenId: string | undefined;
}) {
  const { instanceId, components } = service;
  const [prefix, setPrefix] = useState('');
  const { list, more, isLoading, problem } = useEntities(instanceId, component, prefix);
  const open = (id: string) => go(entityView(instanceId, component, id));
  const shown = list?.entities.filter(({ id }) => id.startsWith(prefix)) ?? [];
  return (
    <>
      {components.length > 1 && (
        <select
          aria-label="Component"
          value={component}
          onChange={(event) => go(entityView(instanceId, event.currentTarget.value))}
        >
          {components.map((one) => (
            <option key={one.component} value={one.component}>
              {visibleLine(one.component)}
            </option>
          ))}
        </select>
      )}
      {components.length === 1 && <h2 class="group-title">{visibleLine(component)}</h2>}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (prefix !== '') open(prefix);
        }}
      >
        <input
          type="search"
          class="filter"
          placeholder="Id, or how it begins"
          aria-label="Entity id"
          data-filter
          value={prefix}
          onInput={(event) => setPrefix(event.currentTarget.value)}
        />
        {prefix !== '' && (
          <button class="quiet open-id">
            Open <strong>{visibleLine(prefix)}</strong>
          </button>
        )}
      </form>
      {problem !== undefined && <ProblemNote problem={problem} />}
      {list === undefined && problem === undefined && <Waiting rows={8} />}
      {list !== undefined && shown.length === 0 && (
        <p class="dim empty-line">
          {prefix === ''
            ? `The journal holds no entity of ${visibleLine(component)} yet. Send a request that stores an event.`
            : `No stored id begins with ${visibleLine(prefix)}.`}
        </p>
      )}
      <ul class="entity-list">
        {shown.map((entity) => (
          <li key={entity.id}>
            <EntityRow
              entity={entity}
              href={hashOf(entityView(instanceId, component, entity.id))}
              isChosen={entity.id === chosenId}
            />
          </li>
        ))}
      </ul>
      {list?.next != null && (
        <button type="button" class="quiet" disabled={isLoading} onClick={more}>
          More
        </button>
      )}
    </>
  );
}

function EntityRow({
  entity,
  href,
  isChosen,
}: {
  readonly entity: StoredEntity;
  readonly href: string;
  readonly isChosen: boolean;
}) {
  return (
    <a href={href} aria-current={isChosen ? 'true' : undefined} data-row>
      <span class="id">{visibleLine(entity.id)}</span>
      <span class="dim number">
        {entity.deleted ? '⌫ deleted · ' : ''}
        {amountText(entity.events, 'event')}
        {entity.lastTime !== null && (
          <>
            {' · '}
            <Clock time={entity.lastTime} />
          </>
        )}
      </span>
    </a>
  );
}

/** The first page, looked at again, and the pages after it. */
function useEntities(instanceId: string, component: string, prefix: string) {
  const path = observed(instanceId, 'entities', component);
  const query = (after: string) =>
    `${path}?limit=${ENTITIES_A_PAGE}${after === '' ? '' : `&after=${encodeURIComponent(after)}`}`;
  const first = useLoaded<EntityList>(query(prefix), (signal) => getJson(query(prefix), signal), {
    everyMs: LISTED_EVERY_MS,
    keepsOld: true,
  });
  const [after, setAfter] = useState<EntityList | undefined>(undefined);
  const [isLoading, setLoading] = useState(false);
  const [problem, setProblem] = useState<ReturnType<typeof problemOf> | undefined>(undefined);
  useEffect(() => setAfter(undefined), [prefix]);
  const list =
    first.value !== undefined && after !== undefined
      ? { ...after, entities: [...first.value.entities, ...after.entities] }
      : first.value;
  const more = async () => {
    if (list?.next == null) return;
    setLoading(true);
    try {
      const page = await getJson<EntityList>(query(list.next), new AbortController().signal);
      setAfter({ ...page, entities: [...(after?.entities ?? []), ...page.entities] });
      setProblem(undefined);
    } catch (error) {
      setProblem(problemOf(error));
    } finally {
      setLoading(false);
    }
  };
  return { list, more, isLoading, problem: problem ?? first.problem };
}
