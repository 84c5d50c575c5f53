// Views: the views of the service, how far their rows are, and the rows that one of their queries finds. A view that has
// stopped can skip the event, and every view can be built again.
import type {
  ObservedView,
  ServiceDescription,
  TypeSchema,
  ViewList,
  ViewRows,
} from '@svc/contract';
import { useState } from 'preact/hooks';
import { getJson, observed } from '../api.ts';
import { draftText, emptyDraft, type Draft } from '../form/draft.ts';
import { Field } from '../form/field.tsx';
import { useLoaded } from '../loaded.ts';
import { ChangeButton } from '../parts/change-button.tsx';
import { Clock } from '../parts/clock.tsx';
import { Empty } from '../parts/empty.tsx';
import { JsonTree } from '../parts/json-tree.tsx';
import { ProblemNote, Waiting } from '../parts/waiting.tsx';
import { entityView, hashOf, type View } from '../route.ts';
import { amountText } from '../view/number-text.ts';
import { visibleLine, visibleText } from '../view/visible-text.ts';

const LISTED_EVERY_MS = 2000;
const ROWS_A_PAGE = 20;

type Query = ObservedView['queries'][number];

export function ViewsScreen({
  service,
  view,
}: {
  readonly service: ServiceDescription;
  readonly view: Extract<View, { readonly screen: 'views' }>;
}) {
  const { instanceId } = service;
  const path = observed(instanceId, 'views');
  const { value, problem, reload } = useLoaded<ViewList>(path, (signal) => getJson(path, signal), {
    everyMs: LISTED_EVERY_MS,
  });
  const chosen = value?.views.find((one) => one.view === view.view) ?? value?.views[0];
  const query = chosen?.queries.find(({ name }) => name === view.query) ?? chosen?.queries[0];
  return (
    <>
      <header class="screen-head">
        <h1>Views</h1>
      </header>
      {value === undefined && problem === undefined && <Waiting rows={4} />}
      {problem !== undefined && <ProblemNote problem={problem} />}
      {value?.views.length === 0 && <Empty title="This service declares no views." />}
      <ul class="work-list">
        {value?.views.map((one) => (
          <li key={one.view}>
            <ViewRow
              view={one}
              service={service}
              isChosen={one.view === chosen?.view}
              reload={reload}
            />
          </li>
        ))}
      </ul>
      {chosen !== undefined && query !== undefined && (
        <section aria-labelledby="rows-title">
          <h2 id="rows-title">Rows of {visibleLine(chosen.view)}</h2>
          <nav class="queries" aria-label="Queries">
            {chosen.queries.map(({ name }) => (
              <a
                key={name}
                href={hashOf({ screen: 'views', instanceId, view: chosen.view, query: name })}
                aria-current={name === query.name ? 'page' : undefined}
              >
                {visibleLine(name)}
              </a>
            ))}
          </nav>
          <Rows
            key={`${chosen.view}/${query.name}`}
            service={service}
            view={chosen.view}
            query={query}
          />
        </section>
      )}
    </>
  );
}

function ViewRow({
  view: { view, state, lagRecords, progress, problem, skipped, sources },
  service,
  isChosen,
  reload,
}: {
  readonly view: ObservedView;
  readonly service: ServiceDescription;
  readonly isChosen: boolean;
  readonly reload: () => void;
}) {
  const { instanceId } = service;
  const event = problem?.event;
  return (
    <article class={`card work-row ${problem === null ? '' : 'is-dead'}`}>
      <p class="work-head">
        <a
          href={hashOf({ screen: 'views', instanceId, view, query: undefined })}
          aria-current={isChosen ? 'page' : undefined}
        >
          <strong>{visibleLine(view)}</strong>
        </a>
        <span class="dim">of {visibleLine(sources.join(', '))}</span>
        <span class={`badge ${state === 'stopped' ? 'is-dead' : ''}`}>{state}</span>
        <span class="number">
          {lagRecords === 0
            ? 'up to date'
            : `${amountText(lagRecords, 'record')} behind (${Math.floor(100 * progress)} %)`}
        </span>
      </p>
      {problem !== null && (
        <p class="work-problem">
          {event && (
            <a href={hashOf(entityView(instanceId, event.component, event.id, event.seq))}>
              {visibleLine(`${event.component}/${event.id}, event ${event.seq}`)}
            </a>
          )}{' '}
          {visibleText(problem.reason)}
        </p>
      )}
      {skipped.map(({ component, id, seq, reason, time }) => (
        <p class="dim" key={`${component}/${id}/${seq}`}>
          skips event {seq} of {visibleLine(`${component}/${id}`)} since <Clock time={time} />:{' '}
          {visibleText(reason)}
        </p>
      ))}
      <p class="actions">
        {event && (
          <ChangeButton
            service={service}
            path="/views/skip"
            change={{
              view,
              entity: { component: event.component, id: event.id },
              seq: event.seq,
            }}
            label="Skip the event"
            needsReason
            done={reload}
          />
        )}
        <ChangeButton
          service={service}
          path="/views/rebuild"
          change={{ view }}
          label="Build again"
          done={reload}
        />
      </p>
    </article>
  );
}

function Rows({
  service,
  view,
  query,
}: {
  readonly service: ServiceDescription;
  readonly view: string;
  readonly query: Query;
}) {
  const { instanceId } = service;
  const schema = query.parameters as TypeSchema | undefined;
  const [draft, setDraft] = useState<Draft | undefined>(() =>
    schema === undefined ? undefined : emptyDraft(schema, service.types),
  );
  // A query with parameters is sent when the user asks for it.
  const [asked, setAsked] = useState<string | undefined>(schema === undefined ? '{}' : undefined);
  const [cursors, setCursors] = useState<readonly string[]>([]);
  const cursor = cursors.at(-1);
  const path =
    asked === undefined
      ? undefined
      : `${observed(instanceId, 'views', view, query.name)}?limit=${ROWS_A_PAGE}&input=${encodeURIComponent(asked)}${cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`}`;
  const { value, problem, isCurrent } = useLoaded<ViewRows>(
    path,
    (signal) => getJson(path!, signal),
    { everyMs: LISTED_EVERY_MS, keepsOld: true },
  );
  return (
    <>
      {query.where !== '' && <p class="dim">{visibleLine(query.where)}</p>}
      {schema !== undefined && draft !== undefined && (
        <form
          class="query-form"
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            setCursors([]);
            setAsked(draftText(draft));
          }}
        >
          <Field
            id="rows-input"
            label="parameters"
            schema={schema}
            draft={draft}
            types={service.types}
            path=""
            problems={[]}
            onChange={setDraft}
          />
          <p class="actions">
            <button class="primary">Find</button>
          </p>
        </form>
      )}
      {path !== undefined && value === undefined && problem === undefined && <Waiting rows={4} />}
      {problem !== undefined && <ProblemNote problem={problem} />}
      {value?.rows.length === 0 && <p class="dim empty-line">There is no such row.</p>}
      {value !== undefined && value.rows.length > 0 && (
        <JsonTree text={`[${value.rows.join(',')}]`} label="rows of the view" openDepth={2} />
      )}
      {value !== undefined && (cursors.length > 0 || value.next !== null) && (
        <p class="actions">
          <button
            type="button"
            class="quiet"
            disabled={cursors.length === 0}
            onClick={() => setCursors(cursors.slice(0, -1))}
          >
            Previous
          </button>
          <button
            type="button"
            class="quiet"
            disabled={value.next === null || !isCurrent}
            onClick={() => value.next !== null && setCursors([...cursors, value.next])}
          >
            Next
          </button>
        </p>
      )}
    </>
  );
}
