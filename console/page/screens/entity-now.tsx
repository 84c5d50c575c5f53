// EntityNow: the current reply of one of the entity's queries. The console sends no commands to entities; commands go
// through the service's routes.
import type { ObservedQuery, ServiceDescription, TypeSchema } from '@svc/contract';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type ApiProblem, getText, observed } from '../api.ts';
import { draftProblems, shownProblems } from '../form/draft-problems.ts';
import { draftText, emptyDraft, type Draft } from '../form/draft.ts';
import { Field } from '../form/field.tsx';
import { pause, problemOf } from '../loaded.ts';
import { Empty } from '../parts/empty.tsx';
import { FaultPanel } from '../parts/fault-panel.tsx';
import { JsonTree } from '../parts/json-tree.tsx';
import { RouteLabel } from '../parts/route-label.tsx';
import { ProblemNote, Waiting } from '../parts/waiting.tsx';
import { hashOf } from '../route.ts';
import { faultIn } from '../view/fault-advice.ts';
import { durationText } from '../view/number-text.ts';
import { visibleLine } from '../view/visible-text.ts';

const POLLED_EVERY_MS = 2000;

interface NowProps {
  readonly service: ServiceDescription;
  readonly component: string;
  readonly id: string;
}

export function EntityNowTab({
  service,
  component,
  id,
  chosen,
}: NowProps & { readonly chosen: string | undefined }) {
  const { instanceId } = service;
  const queries = service.components.find((one) => one.component === component)?.queries ?? [];
  const query = queries.find(({ name }) => name === chosen) ?? queries[0];
  if (query === undefined)
    return (
      <>
        <Empty title={`${visibleLine(component)} declares no query.`} />
        <CommandsNote service={service} />
      </>
    );
  const address = (name: string) =>
    hashOf({
      screen: 'entities',
      instanceId,
      component,
      id,
      tab: 'now',
      at: undefined,
      query: name,
    });
  return (
    <>
      <nav class="queries" aria-label="Queries">
        {queries.map(({ name }) => (
          <a
            key={name}
            href={address(name)}
            aria-current={name === query.name ? 'page' : undefined}
          >
            {visibleLine(name)}
          </a>
        ))}
      </nav>
      <QueryAnswer key={query.name} service={service} component={component} id={id} query={query} />
      <CommandsNote service={service} />
    </>
  );
}

interface QueryReply {
  /** Reply of the query; undefined if there is a problem instead. */
  readonly json?: string;
  readonly problem?: ApiProblem;
  readonly durationMs: number;
}

function QueryAnswer({
  service,
  component,
  id,
  query,
}: NowProps & { readonly query: ObservedQuery }) {
  const schema = query.input as TypeSchema | undefined;
  const [input, setInput] = useState<Draft | undefined>(() =>
    schema === undefined ? undefined : emptyDraft(schema, service.types),
  );
  /** Number of times that the query was sent, repetitions excluded; a query without input is sent once by itself. */
  const [askCount, setAskCount] = useState(schema === undefined ? 1 : 0);
  const [isRepeated, setRepeated] = useState(false);
  const [reply, setReply] = useState<QueryReply | undefined>(undefined);
  const [isAsked, setIsAsked] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (isAsked) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [isAsked]);
  const found =
    schema === undefined || input === undefined ? [] : draftProblems(schema, input, service.types);
  const shown = shownProblems(found, isAsked);
  useEffect(() => {
    if (askCount === 0) return undefined;
    const stop = new AbortController();
    const path = observed(service.instanceId, 'query', component, id, query.name);
    const withInput =
      input === undefined ? path : `${path}?input=${encodeURIComponent(draftText(input))}`;
    const run = async () => {
      const beganMs = performance.now();
      const passed = () => performance.now() - beganMs;
      try {
        const json = await getText(withInput, stop.signal);
        if (!stop.signal.aborted) setReply({ json, durationMs: passed() });
      } catch (error) {
        if (!stop.signal.aborted) setReply({ problem: problemOf(error), durationMs: passed() });
      }
      if (!isRepeated) return;
      await pause(POLLED_EVERY_MS, stop.signal);
      if (!stop.signal.aborted) void run();
    };
    void run();
    return () => stop.abort();
  }, [askCount, isRepeated]);
  const fault = faultIn(reply?.problem?.details);
  return (
    <>
      <form
        ref={form}
        class="query-form"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          // The first attempt reports missing values; a second one sends the input as it is.
          if (!isAsked && found.some(({ isBlank }) => isBlank)) setIsAsked(true);
          else setAskCount(askCount + 1);
        }}
      >
        {schema !== undefined && input !== undefined && (
          <Field
            id="query-input"
            label="input"
            schema={schema}
            draft={input}
            types={service.types}
            path=""
            problems={shown}
            onChange={setInput}
          />
        )}
        <div class="actions">
          <button class="primary">{shown.length > 0 ? 'Ask anyway' : 'Ask'}</button>
          <label class="check">
            <input
              type="checkbox"
              checked={isRepeated}
              onChange={(event) => setRepeated(event.currentTarget.checked)}
            />
            again every 2 s
          </label>
          {reply !== undefined && <span class="dim number">{durationText(reply.durationMs)}</span>}
        </div>
      </form>
      <div class="query-answer">
        {askCount > 0 && reply === undefined && <Waiting rows={4} />}
        {fault !== undefined && <FaultPanel fault={fault} outcome="Failed" title="Why" />}
        {reply?.problem !== undefined && fault === undefined && (
          <ProblemNote problem={reply.problem} />
        )}
        {reply?.json !== undefined && (
          <JsonTree text={reply.json} label="answer of the query" openDepth={4} />
        )}
      </div>
      {reply !== undefined && (
        <p class="dim">Answered by the service’s own query handler, which stores nothing.</p>
      )}
    </>
  );
}

function CommandsNote({ service }: { readonly service: ServiceDescription }) {
  const { instanceId } = service;
  const writing = service.routes.filter(({ method }) => method !== 'GET');
  return (
    <div class="commands-note">
      <p>Commands go through the service’s routes{writing.length > 0 ? ':' : '.'}</p>
      <ul class="route-list">
        {writing.slice(0, 8).map((route) => (
          <li key={`${route.method} ${route.path}`}>
            <a href={hashOf({ screen: 'routes', instanceId, route })}>
              <RouteLabel route={route} />
            </a>
          </li>
        ))}
      </ul>
    </div>
  );
}
