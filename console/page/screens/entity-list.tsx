// EntityList: the stored entities of a component, sorted by id, one page at a time, optionally only those whose id
// begins with a text. Only the displayed page is in memory; it is loaded again while it is visible.
import type { EntityList, ServiceDescription, StoredEntity } from '@svc/contract';
import { useEffect, useRef, useState } from 'preact/hooks';
import { getJson, observed } from '../api.ts';
import { useLoaded } from '../loaded.ts';
import { Clock } from '../parts/clock.tsx';
import { ProblemNote, Waiting } from '../parts/waiting.tsx';
import { entityView, hashOf } from '../route.ts';
import { go } from '../store.ts';
import { entityPageText } from '../view/entity-page.ts';
import { amountText } from '../view/number-text.ts';
import { visibleLine } from '../view/visible-text.ts';

const ENTITIES_A_PAGE = 50;
const LISTED_EVERY_MS = 3000;

interface Page {
  readonly list: EntityList;
  /** Number of entities on the pages before this one, all of which are full. */
  readonly before: number;
}

export function EntityListPanel({
  service,
  component,
  chosenId,
}: {
  readonly service: ServiceDescription;
  readonly component: string;
  readonly chosenId: string | undefined;
}) {
  const { instanceId } = service;
  const [prefix, setPrefix] = useState('');
  // The pages up to the displayed one, each as the id after which the page begins; '' for the first page.
  const [pages, setPages] = useState<readonly string[]>(['']);
  const after = pages.at(-1)!;
  const path = `${observed(instanceId, 'entities', component)}?${entityQuery(prefix, after)}`;
  const before = (pages.length - 1) * ENTITIES_A_PAGE;
  const { value, isCurrent, problem } = useLoaded<Page>(
    path,
    async (signal) => ({ list: await getJson<EntityList>(path, signal), before }),
    { everyMs: LISTED_EVERY_MS, keepsOld: true },
  );
  const list = value?.list;
  const rows = useRef<HTMLUListElement>(null);
  useEffect(() => rows.current?.scrollTo(0, 0), [path]);
  return (
    <>
      <ComponentChoice service={service} component={component} />
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (prefix !== '') go(entityView(instanceId, component, prefix));
        }}
      >
        <input
          type="search"
          class="filter"
          placeholder="Id, or how it begins"
          aria-label="Entity id, or how it begins"
          data-filter
          value={prefix}
          onInput={(event) => {
            setPrefix(event.currentTarget.value);
            setPages(['']);
          }}
        />
        {prefix !== '' && (
          <button class="quiet open-id">
            Open <strong>{visibleLine(prefix)}</strong>
          </button>
        )}
      </form>
      {problem !== undefined && <ProblemNote problem={problem} />}
      {list === undefined && problem === undefined && <Waiting rows={8} />}
      {list?.entities.length === 0 && after === '' && (
        <p class="dim empty-line">
          {prefix === ''
            ? `The journal holds no entity of ${visibleLine(component)} yet. Send a request that stores an event.`
            : `No stored id begins with ${visibleLine(prefix)}.`}
        </p>
      )}
      <ul class="entity-list" ref={rows}>
        {list?.entities.map((entity) => (
          <li key={entity.id}>
            <EntityRow
              entity={entity}
              href={hashOf(entityView(instanceId, component, entity.id))}
              isChosen={entity.id === chosenId}
            />
          </li>
        ))}
      </ul>
      {value !== undefined && list !== undefined && list.total > 0 && (
        <footer class="entity-foot">
          <span class="number">{entityPageText(list, (pages.length - 1) * ENTITIES_A_PAGE)}</span>
          {(pages.length > 1 || list.next !== null) && (
            <span class="entity-pages">
              <button
                type="button"
                class="quiet"
                disabled={pages.length === 1}
                onClick={() => setPages(pages.slice(0, -1))}
              >
                Previous
              </button>
              <button
                type="button"
                class="quiet"
                disabled={list.next === null || !isCurrent}
                onClick={() => list.next !== null && setPages([...pages, list.next])}
              >
                Next
              </button>
            </span>
          )}
        </footer>
      )}
    </>
  );
}

function ComponentChoice({
  service: { instanceId, components },
  component,
}: {
  readonly service: ServiceDescription;
  readonly component: string;
}) {
  if (components.length === 1) return <h2 class="group-title">{visibleLine(component)}</h2>;
  return (
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

function entityQuery(prefix: string, after: string): string {
  const query = new URLSearchParams({ limit: String(ENTITIES_A_PAGE) });
  if (prefix !== '') query.set('prefix', prefix);
  if (after !== '') query.set('after', after);
  return query.toString();
}
