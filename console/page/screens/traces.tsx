// The requests of the window, newest first. What is being read does not move: while the list has the pointer or the
// focus, or is scrolled, new traces gather behind a button.
import type { Outcome as OutcomeWord, ServiceDescription, TraceList } from '@svc/contract';
import { useEffect, useRef, useState } from 'preact/hooks';
import { getJson, observed } from '../api.ts';
import { problemOf, useLoaded } from '../loaded.ts';
import { Empty } from '../parts/empty.tsx';
import { OUTCOMES, Outcome } from '../parts/outcome.tsx';
import { TraceTable } from '../parts/trace-table.tsx';
import { ProblemNote, Waiting } from '../parts/waiting.tsx';
import { NO_FILTER, hashOf, type TraceFilter } from '../route.ts';
import { go } from '../store.ts';
import { amountText, countText } from '../view/number-text.ts';
import { fittingTraces, isFiltered, newTraceCount, traceQuery } from '../view/trace-list.ts';
import { visibleLine } from '../view/visible-text.ts';

const TRACES_A_PAGE = 100;
const ASKED_EVERY_MS = 2000;

export function TracesScreen({
  service,
  filter,
}: {
  readonly service: ServiceDescription;
  readonly filter: TraceFilter;
}) {
  const { instanceId } = service;
  const path = `${observed(instanceId, 'traces')}?`;
  const asked = path + traceQuery(filter, TRACES_A_PAGE);
  const newest = useLoaded<TraceList>(asked, (signal) => getJson(asked, signal), {
    everyMs: ASKED_EVERY_MS,
    keepsOld: true,
  });
  const { list, older, isSettled, isHeld, show, more } = useSteady(
    newest.value,
    asked,
    (after, signal) => getJson(path + traceQuery(filter, TRACES_A_PAGE, after), signal),
  );
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (newest.isCurrent && (!isSettled || !isRead(place.current))) show();
  }, [newest.value]);
  const traces = fittingTraces([...(list?.traces ?? []), ...older.traces], filter);
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
      <div ref={place} class="steady">
        {list === undefined && newest.problem === undefined && <Waiting rows={12} />}
        {list !== undefined && traces.length === 0 && <NoTrace service={service} filter={filter} />}
        {traces.length > 0 && <TraceTable instanceId={instanceId} traces={traces} />}
      </div>
      {list !== undefined && (
        <footer class="list-foot">
          {older.next !== null && (
            <button type="button" class="quiet" disabled={older.isLoading} onClick={more}>
              Older
            </button>
          )}
          {older.problem !== undefined && <span>{older.problem}</span>}
          <span class="dim">
            The window holds {amountText(list.window.capacity, 'span')};{' '}
            {countText(list.window.recorded)} recorded
            {list.window.recorded > list.window.capacity && ': older ones are gone'}.
          </span>
        </footer>
      )}
    </>
  );
}

interface Older {
  readonly traces: TraceList['traces'];
  readonly next: string | null;
  readonly isLoading: boolean;
  readonly problem?: string;
}

/** What is shown of what there is: the newest page when it is let through, and the pages after it. */
function useSteady(
  newest: TraceList | undefined,
  key: string,
  load: (after: string, signal: AbortSignal) => Promise<TraceList>,
) {
  const [shown, setShown] = useState<{ key: string; list: TraceList } | undefined>(undefined);
  const [older, setOlder] = useState<Older>({ traces: [], next: null, isLoading: false });
  const list = shown?.key === key ? shown.list : newest;
  const show = () => {
    if (newest === undefined) return;
    setShown({ key, list: newest });
    setOlder({ traces: [], next: newest.next, isLoading: false });
  };
  const more = async () => {
    if (older.next === null || older.isLoading) return;
    // The pages after it belong to the page that is shown.
    if (list !== undefined) setShown({ key, list });
    setOlder({ ...older, isLoading: true });
    try {
      const page = await load(older.next, new AbortController().signal);
      setOlder({ traces: [...older.traces, ...page.traces], next: page.next, isLoading: false });
    } catch (error) {
      setOlder({ ...older, isLoading: false, problem: problemOf(error).message });
    }
  };
  const isSettled = shown?.key === key;
  return { list, older, isSettled, isHeld: isSettled && shown.list !== newest, show, more };
}

function isRead(place: HTMLElement | null): boolean {
  if (place === null) return false;
  return place.matches(':hover') || place.contains(document.activeElement) || scrollY > 40;
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
    go({ screen: 'traces', instanceId, filter: { ...filter, ...next } }, true);
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
        placeholder="Name, entity or trace id"
        aria-label="Name, entity or trace id"
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
  filter,
}: {
  readonly service: ServiceDescription;
  readonly filter: TraceFilter;
}) {
  if (isFiltered(filter)) return <Empty title="No trace fits." />;
  const routes = hashOf({ screen: 'routes', instanceId: service.instanceId, route: undefined });
  return (
    <Empty title="No trace in the window yet.">
      <p>
        <a href={routes}>Send a request</a>, and its trace stands here.
      </p>
    </Empty>
  );
}
