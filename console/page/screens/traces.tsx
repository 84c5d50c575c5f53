// Traces: the traces in the window (the newest spans that the service keeps), newest first, one page at a time. The
// address contains the cursor of the page, so that a refresh, a reload and going back keep the page. The first page
// displays new traces by itself, unless the list has the pointer or the focus, or is scrolled: then a button offers
// them, so that nothing moves while the user reads.
import type { Outcome as OutcomeWord, ServiceDescription, TraceList } from '@svc/contract';
import { useEffect, useRef, useState } from 'preact/hooks';
import { getJson, observed } from '../api.ts';
import { useLoaded } from '../loaded.ts';
import { Empty } from '../parts/empty.tsx';
import { OUTCOMES, Outcome } from '../parts/outcome.tsx';
import { TraceTable } from '../parts/trace-table.tsx';
import { ProblemNote, Waiting } from '../parts/waiting.tsx';
import { NO_FILTER, hashOf, tracesView, type TraceFilter, type TracesView } from '../route.ts';
import { go, lastTraces } from '../store.ts';
import { amountText, countText } from '../view/number-text.ts';
import { isFiltered, newTraceCount, pageText, traceQuery } from '../view/trace-list.ts';
import { visibleLine } from '../view/visible-text.ts';

const TRACES_A_PAGE = 100;
const POLLED_EVERY_MS = 2000;

export function TracesScreen({
  service,
  view,
}: {
  readonly service: ServiceDescription;
  readonly view: TracesView;
}) {
  const { filter, after } = view;
  const { instanceId } = service;
  const asked = `${observed(instanceId, 'traces')}?${traceQuery(filter, TRACES_A_PAGE, after)}`;
  const newest = useLoaded<TraceList>(asked, (signal) => getJson(asked, signal), {
    everyMs: POLLED_EVERY_MS,
    keepsOld: true,
  });
  const isFirst = after === undefined;
  const { list, isSettled, isHeld, show } = useSteady(newest.value, asked, isFirst);
  const container = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (newest.isCurrent && (!isSettled || !isRead(container.current))) show();
  }, [newest.value]);
  useEffect(() => scrollTo(0, 0), [after]);
  useEffect(() => void (lastTraces.value = view), [view]);
  const waiting =
    list === undefined || newest.value === undefined
      ? 0
      : newTraceCount(list.traces, newest.value.traces);
  const silent = list?.silentShards ?? [];
  return (
    <>
      <header class="screen-head">
        <h1>Traces</h1>
        <span class="new-rows">
          {isHeld && waiting > 0 && (
            <button type="button" class="quiet" onClick={show}>
              {amountText(waiting, 'new trace')}
            </button>
          )}
        </span>
      </header>
      <Filters service={service} filter={filter} />
      {newest.problem !== undefined && <ProblemNote problem={newest.problem} />}
      {silent.length > 0 && (
        <p class="problem-note" role="status">
          {amountText(silent.length, 'shard')} did not answer in time: traces are missing here.
        </p>
      )}
      <div ref={container} class="steady">
        {list === undefined && newest.problem === undefined && <Waiting rows={12} />}
        {list?.traces.length === 0 && <NoTrace service={service} view={view} list={list} />}
        {list !== undefined && list.traces.length > 0 && (
          <TraceTable instanceId={instanceId} traces={list.traces} />
        )}
      </div>
      {list !== undefined && <Foot view={view} list={list} />}
    </>
  );
}

function Foot({ view, list }: { readonly view: TracesView; readonly list: TraceList }) {
  const { instanceId, filter } = view;
  const { previous, newer, next, window } = list;
  const at = (after: string | undefined) => hashOf(tracesView(instanceId, filter, after));
  return (
    <footer class="list-foot">
      {(newer > 0 || next !== null) && (
        <nav aria-label="Pages" class="pages">
          {newer > 0 ? <a href={at(previous ?? undefined)}>Newer</a> : <span>Newer</span>}
          {next !== null ? <a href={at(next)}>Older</a> : <span>Older</span>}
        </nav>
      )}
      <span class="number">{pageText(list)}</span>
      <span class="dim">
        The window holds {amountText(window.capacity, 'span')}; {countText(window.recorded)}{' '}
        recorded
        {window.recorded > window.capacity && ': older ones are gone'}.
      </span>
    </footer>
  );
}

/**
 * Returns the list to be displayed. The first page stays as it is until `show` is called; `isHeld`: a newer version is
 * not displayed yet. Other pages display each version at once, since they get no new rows. `isSettled`: the
 * first page displays a version that stays.
 */
function useSteady(newest: TraceList | undefined, key: string, isFirst: boolean) {
  const [shown, setShown] = useState<{ key: string; list: TraceList } | undefined>(undefined);
  const isSettled = isFirst && shown?.key === key;
  const list = isSettled ? shown.list : newest;
  const show = () => {
    if (newest !== undefined) setShown({ key, list: newest });
  };
  return { list, isSettled, isHeld: isSettled && shown.list !== newest, show };
}

/** Returns whether the user is probably reading the list: it has the pointer or the focus, or is scrolled. */
function isRead(container: HTMLElement | null): boolean {
  if (container === null) return false;
  return container.matches(':hover') || container.contains(document.activeElement) || scrollY > 40;
}

function Filters({
  service,
  filter,
}: {
  readonly service: ServiceDescription;
  readonly filter: TraceFilter;
}) {
  const { instanceId } = service;
  const change = (next: Partial<TraceFilter>) =>
    go(tracesView(instanceId, { ...filter, ...next }), true);
  const names = [
    ...new Set([
      ...service.routes.map(({ endpoint }) => endpoint),
      ...service.components.map(({ component }) => component),
    ]),
  ];
  const toggle = (outcome: OutcomeWord) =>
    change({
      outcomes: filter.outcomes.includes(outcome)
        ? filter.outcomes.filter((one) => one !== outcome)
        : [...filter.outcomes, outcome],
    });
  return (
    <div class="filters" role="search" aria-label="Filter traces">
      <input
        type="search"
        class="filter"
        placeholder="Name, entity, error or trace id"
        aria-label="Name, entity, error or trace id"
        data-filter
        value={filter.text}
        onInput={(event) => change({ text: event.currentTarget.value })}
      />
      <select
        aria-label="Component"
        value={filter.component}
        onChange={(event) => change({ component: event.currentTarget.value })}
      >
        <option value="">All components</option>
        {names.map((name) => (
          <option key={name} value={name}>
            {visibleLine(name)}
          </option>
        ))}
      </select>
      <div class="switch is-outcomes" role="group" aria-label="Outcome">
        {OUTCOMES.map((outcome) => (
          <button
            key={outcome}
            type="button"
            aria-pressed={filter.outcomes.includes(outcome)}
            onClick={() => toggle(outcome)}
          >
            <Outcome outcome={outcome} />
          </button>
        ))}
      </div>
      <label class="slower">
        slower than
        <input
          type="text"
          inputMode="decimal"
          class="number"
          value={filter.minMs}
          onInput={(event) => change({ minMs: event.currentTarget.value })}
        />
        ms
      </label>
      {isFiltered(filter) && (
        <button type="button" class="quiet" onClick={() => change(NO_FILTER)}>
          Clear filters
        </button>
      )}
    </div>
  );
}

function NoTrace({
  service,
  view: { instanceId, filter },
  list: { newer },
}: {
  readonly service: ServiceDescription;
  readonly view: TracesView;
  readonly list: TraceList;
}) {
  if (newer > 0)
    return (
      <Empty title="These traces have left the window.">
        <p>
          Newer ones have taken their place.{' '}
          <a href={hashOf(tracesView(instanceId, filter))}>Newest traces</a>
        </p>
      </Empty>
    );
  if (isFiltered(filter))
    return (
      <Empty title="No trace in the window matches.">
        <p class="dim">
          The text is looked for in the names of routes and handlers, in the ids of entities and
          traces, and in what failed.
        </p>
      </Empty>
    );
  const routes = hashOf({ screen: 'routes', instanceId: service.instanceId, route: undefined });
  return (
    <Empty title="No trace in the window yet.">
      <p>
        <a href={routes}>Send a request</a>, and its trace appears here.
      </p>
    </Empty>
  );
}
