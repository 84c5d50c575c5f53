// Trace: the spans of one trace as a tree on one time axis, and the details of the selected span.
import type { ServiceDescription, Span, TraceDetail } from '@svc/contract';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { ApiProblem, getJson, observed } from '../api.ts';
import { useLoaded } from '../loaded.ts';
import { Clock } from '../parts/clock.tsx';
import { CopyButton } from '../parts/copy.tsx';
import { Empty } from '../parts/empty.tsx';
import { Outcome, outcomeSign } from '../parts/outcome.tsx';
import { SpanPanel } from '../parts/span-panel.tsx';
import { ProblemNote, Waiting } from '../parts/waiting.tsx';
import { hashOf, tracesView } from '../route.ts';
import { lastTraces } from '../store.ts';
import { amountText, countText, durationText } from '../view/number-text.ts';
import {
  AXIS_TICKS,
  axisLengthMs,
  causeOf,
  findSpan,
  spanCount,
  traceRows,
  type TraceRow,
} from '../view/trace-rows.ts';
import { isFiltered } from '../view/trace-list.ts';
import { isOfConsole } from '../view/trace-origin.ts';
import { visibleLine } from '../view/visible-text.ts';

/** Labels of the spans that no caller waits for. */
const CAUSES: Partial<Record<Span['kind'], string>> = { firing: 'timer', consumer: 'consumer' };

export function TraceScreen({
  service,
  traceId,
}: {
  readonly service: ServiceDescription;
  readonly traceId: string;
}) {
  const { instanceId } = service;
  const trace = useLoaded<TraceDetail>(traceId, (signal) =>
    getJson(observed(instanceId, 'traces', traceId), signal),
  );
  const list = lastTraces.value;
  const from = list?.instanceId === instanceId ? list : tracesView(instanceId);
  const back = (
    <a class="back" href={hashOf(from)} data-back>
      {isFiltered(from.filter) ? 'Traces, as filtered' : 'All traces'}
    </a>
  );
  if (trace.value !== undefined)
    return (
      <>
        {back}
        <Tree trace={trace.value} service={service} reload={trace.reload} />
      </>
    );
  return (
    <>
      {back}
      <header class="screen-head">
        <h1>Trace</h1>
      </header>
      {trace.problem === undefined ? (
        <Waiting rows={8} />
      ) : (
        <Missing problem={trace.problem} reload={trace.reload} />
      )}
    </>
  );
}

function Missing({
  problem,
  reload,
}: {
  readonly problem: ApiProblem;
  readonly reload: () => void;
}) {
  const again = (
    <button type="button" class="quiet" onClick={reload}>
      Look again
    </button>
  );
  if (problem.status !== 404)
    return (
      <>
        <ProblemNote problem={problem} />
        {again}
      </>
    );
  return (
    <Empty title="This trace is not in the window.">
      <p>
        The window holds the newest spans only. Raise <code>svc.observability.ring-capacity</code>{' '}
        to keep more. A request that no handler ran for has no trace: no route had its path, or the
        runtime refused it by itself.
      </p>
      {again}
    </Empty>
  );
}

function Tree({
  trace,
  service,
  reload,
}: {
  readonly trace: TraceDetail;
  readonly service: ServiceDescription;
  readonly reload: () => void;
}) {
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const first = causeOf(trace) ?? trace.roots[0];
  const [chosenId, setChosen] = useState(first?.spanId);
  const rows = traceRows(trace, closed);
  const chosen = chosenId === undefined ? undefined : findSpan(trace, chosenId);
  const root = trace.roots[0];
  const fold = (spanId: string, isOpen: boolean) => {
    const next = new Set(closed);
    if (isOpen) next.delete(spanId);
    else next.add(spanId);
    setClosed(next);
  };
  return (
    <>
      <header class="screen-head trace-head">
        <h1>{visibleLine(root === undefined ? 'Trace' : nameOf(root, service))}</h1>
        {root !== undefined && <Outcome outcome={root.outcome} />}
        {root?.status != null && <span class="number">{root.status}</span>}
      </header>
      <dl class="facts is-row">
        <div>
          <dt>duration</dt>
          <dd class="number">{durationText(trace.durationMs)}</dd>
        </div>
        <div>
          <dt>started</dt>
          <dd>
            <Clock time={trace.startedAt} precise />
          </dd>
        </div>
        <div>
          <dt>spans</dt>
          <dd class="number">{countText(spanCount(trace) + trace.moreSpans)}</dd>
        </div>
        <div>
          <dt>trace id</dt>
          <dd>
            <code>{trace.traceId}</code>
            <CopyButton text={trace.traceId} what="trace id" />
          </dd>
        </div>
      </dl>
      {trace.remoteParent !== null && !isOfConsole(trace) && (
        <p class="dim trace-origin">
          Continued from another service (span <code>{trace.remoteParent}</code>).
        </p>
      )}
      {trace.silentShards.length > 0 && (
        <p class="problem-note" role="status">
          {amountText(trace.silentShards.length, 'shard')} did not answer in time: spans are missing
          here.{' '}
          <button type="button" class="quiet" onClick={reload}>
            Look again
          </button>
        </p>
      )}
      <div class="trace-frame">
        <div class="trace-tree">
          <div class="trace-axis" aria-hidden="true">
            {AXIS_TICKS.map((part) => (
              <span key={part} style={{ left: `${part * 100}%` }}>
                {durationText(part * axisLengthMs(trace))}
              </span>
            ))}
          </div>
          <Rows rows={rows} chosenId={chosenId} service={service} choose={setChosen} fold={fold} />
          {trace.moreSpans > 0 && (
            <p class="dim">and {amountText(trace.moreSpans, 'more span', 'more spans')}</p>
          )}
        </div>
        {chosen !== undefined && (
          <SpanPanel span={chosen} traceId={trace.traceId} service={service} />
        )}
      </div>
    </>
  );
}

/** Displays the rows of the tree. Tab stops once: at the selected span, or at the first row if that span is hidden. */
function Rows({
  rows,
  chosenId,
  service,
  choose,
  fold,
}: {
  readonly rows: readonly TraceRow[];
  readonly chosenId: string | undefined;
  readonly service: ServiceDescription;
  readonly choose: (spanId: string) => void;
  readonly fold: (spanId: string, isOpen: boolean) => void;
}) {
  const tree = useRef<HTMLDivElement>(null);
  const focusFollows = useRef(false);
  useLayoutEffect(() => {
    if (!focusFollows.current) return;
    focusFollows.current = false;
    tree.current?.querySelector<HTMLElement>('[aria-selected=true]')?.focus();
  }, [chosenId]);
  const onKeyDown = (event: KeyboardEvent) => {
    const next = target(event.key, rows, chosenId, fold);
    if (next === undefined) return;
    event.preventDefault();
    if (next === null) return;
    focusFollows.current = true;
    choose(next);
  };
  const hasChosen = rows.some(({ span }) => span.spanId === chosenId);
  return (
    <div ref={tree} role="tree" aria-label="Spans" onKeyDown={onKeyDown}>
      {rows.map((row, at) => {
        const { span, level } = row;
        const isChosen = span.spanId === chosenId;
        return (
          <div
            key={span.spanId}
            role="treeitem"
            class="span-row"
            aria-level={level}
            aria-posinset={row.position}
            aria-setsize={row.siblings}
            aria-expanded={row.hasChildren ? row.isOpen : undefined}
            aria-selected={isChosen}
            tabIndex={isChosen || (!hasChosen && at === 0) ? 0 : -1}
            onClick={() => choose(span.spanId)}
            onKeyDown={(event) => {
              if (event.key === 'Enter' || event.key === ' ') choose(span.spanId);
            }}
          >
            <span class="span-name" style={{ '--level': level - 1 }}>
              <FoldSign row={row} fold={fold} />
              <span class={`sign is-${span.outcome}`} aria-hidden="true">
                {span.outcome === 'Ok' ? '' : outcomeSign(span.outcome)}
              </span>
              <span class="name">{visibleLine(nameOf(span, service))}</span>
              {span.kind in CAUSES && <span class="dim cause">{CAUSES[span.kind]}</span>}
              {span.entityId !== null && <span class="dim id">{visibleLine(span.entityId)}</span>}
            </span>
            <span class="span-bar">
              <span
                class={`bar-fill is-${span.outcome}`}
                style={{ left: `${row.left}%`, width: `${row.width}%` }}
              />
              <BarText row={row} />
            </span>
            <span class="unseen">{span.outcome}</span>
          </div>
        );
      })}
    </div>
  );
}

function FoldSign({
  row,
  fold,
}: {
  readonly row: TraceRow;
  readonly fold: (spanId: string, isOpen: boolean) => void;
}) {
  if (!row.hasChildren) return <span class="fold-sign" aria-hidden="true" />;
  return (
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-static-element-interactions -- the arrow keys of the tree do it
    <span
      class={`fold-sign has-children ${row.isOpen ? 'is-open' : ''}`}
      aria-hidden="true"
      onClick={(event) => {
        event.stopPropagation();
        fold(row.span.spanId, !row.isOpen);
      }}
    />
  );
}

/** Displays the duration right of the bar if there is room, else left of the bar, else within the bar. */
function BarText({ row: { left, width, span } }: { readonly row: TraceRow }) {
  const text = durationText(span.durationMs);
  if (left + width < 82)
    return (
      <span class="bar-text" style={{ left: `${left + width}%` }}>
        {text}
      </span>
    );
  const isWithin = left < 18;
  return (
    <span
      class={`bar-text ${isWithin ? 'is-within' : ''}`}
      style={{ right: `${100 - (isWithin ? left + width : left)}%` }}
    >
      {text}
    </span>
  );
}

/**
 * Returns the id of the span that a key selects. Null: the key belongs to the tree, and the selection stays, as when an
 * arrow key has expanded or collapsed the selected span. Undefined: the key has no meaning in the tree.
 */
function target(
  key: string,
  rows: readonly TraceRow[],
  chosenId: string | undefined,
  fold: (spanId: string, isOpen: boolean) => void,
): string | null | undefined {
  const at = rows.findIndex(({ span }) => span.spanId === chosenId);
  const row = rows[at];
  switch (key) {
    case 'ArrowDown':
      return rows[at + 1]?.span.spanId ?? null;
    case 'ArrowUp':
      return rows[at - 1]?.span.spanId ?? null;
    case 'Home':
      return rows[0]?.span.spanId ?? null;
    case 'End':
      return rows.at(-1)?.span.spanId ?? null;
    case 'ArrowRight':
      if (row?.hasChildren && !row.isOpen) fold(row.span.spanId, true);
      else if (row?.hasChildren) return row.span.children[0]!.spanId;
      return null;
    case 'ArrowLeft':
      if (row?.isOpen) fold(row.span.spanId, false);
      else if (row?.parentId !== undefined) return row.parentId;
      return null;
    default:
      return undefined;
  }
}

/** Returns the display name of a span: the route of an endpoint's span, or component and handler. */
function nameOf(span: Span, { routes }: ServiceDescription): string {
  if (span.kind !== 'endpoint') return `${span.component}.${span.handler}`;
  const route = routes.find(
    ({ endpoint, handler }) => endpoint === span.component && handler === span.handler,
  );
  return route === undefined
    ? `${span.component}.${span.handler}`
    : `${route.method} ${route.path}`;
}
