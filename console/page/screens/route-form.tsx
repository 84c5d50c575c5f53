// RouteForm: the form of one route: its parts in the order of the request, and the responses below.
import type { ServiceDescription, ServiceRoute, TypeSchema } from '@svc/contract';
import { useEffect, useRef, useState } from 'preact/hooks';
import { CopyButton } from '../parts/copy.tsx';
import { Icon } from '../parts/icon.tsx';
import { RouteLabel } from '../parts/route-label.tsx';
import { curlLine } from '../form/call-text.ts';
import {
  bodySchema,
  callProblems,
  callRequest,
  emptyCall,
  inMode,
  queryDefaults,
  querySchema,
  takesIdempotencyKey,
  type CallDraft,
  type CallProblem,
} from '../form/call-draft.ts';
import { callState, type CallState } from '../form/call-state.ts';
import { shownProblems } from '../form/draft-problems.ts';
import { Field } from '../form/field.tsx';
import { FileInput } from '../form/simple-field.tsx';
import { TextField } from '../form/text-field.tsx';
import { durationText } from '../view/number-text.ts';
import { visibleLine, visibleText } from '../view/visible-text.ts';
import { AnswerPanel } from './answer.tsx';

interface PartProps {
  readonly state: CallState;
  readonly route: ServiceRoute;
  readonly service: ServiceDescription;
  readonly problems: readonly CallProblem[];
}

export function RouteForm({
  service,
  route,
}: {
  readonly service: ServiceDescription;
  readonly route: ServiceRoute;
}) {
  const state = callState(service, route);
  const call = state.call.value;
  const form = useRef<HTMLFormElement>(null);
  const isAsked = state.isAsked.value;
  const found = callProblems(call, route, service.types);
  const problems = shownProblems(found, isAsked);
  const send = () => {
    // The first attempt reports missing values; a second one sends the call as it is.
    if (!isAsked && found.some(({ isBlank }) => isBlank)) state.isAsked.value = true;
    else void state.send(service.instanceId, route);
  };
  useEffect(() => {
    if (isAsked) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [isAsked]);
  const parts = { state, route, service, problems };
  return (
    <>
      <form
        ref={form}
        class="route-form"
        aria-label={`${route.method} ${route.path}`}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          send();
        }}
      >
        <header class="form-head">
          <h2>
            <RouteLabel route={route} />
          </h2>
          <p class="dim">
            {visibleLine(`${route.endpoint}.${route.handler}`)} · {visibleLine(route.access)}
          </p>
        </header>
        {call.parameters.length > 0 && <PathPart {...parts} />}
        <QueryPart {...parts} />
        {route.body !== undefined && <BodyPart {...parts} />}
        {route.bearer === true && <SendAsPart {...parts} />}
        <MorePart {...parts} />
        {problems.length > 0 && (
          <ul class="problems" aria-label="What does not fit">
            {problems.slice(0, 8).map(({ part, path, message }) => (
              <li key={`${part}${path}${message}`}>
                <code>{visibleLine(path === '' ? part : path)}</code> {visibleText(message)}
              </li>
            ))}
          </ul>
        )}
        <Actions {...parts} />
      </form>
      <div class="answer-place">
        {state.problem.value !== undefined && (
          <p class="problem-note" role="status">
            {visibleText(state.problem.value)}
          </p>
        )}
        <AnswerPanel state={state} service={service} />
      </div>
    </>
  );
}

function PathPart({ state, route, service, problems }: PartProps) {
  const call = state.call.value;
  return (
    <fieldset>
      <legend>Path</legend>
      {call.parameters.map(({ name, value }, at) => (
        <Field
          key={name}
          id={`path-${name}`}
          label={name}
          schema={route.parameters[at]?.schema as TypeSchema}
          draft={value}
          types={service.types}
          path={name}
          problems={problems.filter(({ part }) => part === 'path')}
          onChange={(next) => {
            const parameters = call.parameters.with(at, { name, value: next });
            state.call.value = { ...call, parameters };
          }}
        />
      ))}
    </fieldset>
  );
}

function QueryPart({ state, route, service, problems }: PartProps) {
  const call = state.call.value;
  const schema = querySchema(route);
  if (schema === undefined || call.declaredQuery === undefined) return null;
  return (
    <fieldset>
      <legend>Query</legend>
      <Field
        id="query-parameters"
        label=""
        schema={schema}
        draft={call.declaredQuery}
        types={service.types}
        path=""
        defaults={queryDefaults(route)}
        problems={problems.filter(({ part }) => part === 'query')}
        onChange={(declaredQuery) => (state.call.value = { ...call, declaredQuery })}
      />
    </fieldset>
  );
}

function BodyPart({ state, route, service, problems }: PartProps) {
  const [misfit, setMisfit] = useState(false);
  const call = state.call.value;
  const schema = bodySchema(route);
  const change = (next: Partial<CallDraft>) => {
    setMisfit(false);
    state.call.value = { ...state.call.value, ...next };
  };
  const switchTo = (mode: CallDraft['mode']) => {
    if (schema === undefined) return;
    const next = inMode(call, mode, schema, service.types);
    setMisfit(next === undefined);
    if (next !== undefined) state.call.value = next;
  };
  return (
    <fieldset>
      <legend>Body</legend>
      {schema !== undefined && (
        <div class="switch" role="group" aria-label="Body as">
          {(['form', 'json'] as const).map((mode) => (
            <button
              key={mode}
              type="button"
              aria-pressed={call.mode === mode}
              onClick={() => switchTo(mode)}
            >
              {mode === 'form' ? 'Form' : 'JSON'}
            </button>
          ))}
        </div>
      )}
      {misfit && (
        <p class="problem-note" role="status">
          This JSON does not fit the form. Correct it, or send it as it is.
        </p>
      )}
      {schema !== undefined && call.mode === 'form' && call.body !== undefined ? (
        <Field
          id="body"
          label=""
          schema={schema}
          draft={call.body}
          types={service.types}
          path=""
          problems={problems.filter(({ part }) => part === 'body')}
          onChange={(body) => change({ body })}
        />
      ) : (
        <>
          <TextField
            id="body-text"
            label={bodyLabel(route)}
            lines={Math.min(24, Math.max(5, call.text.split('\n').length))}
            value={call.text}
            problem={problems.find(({ part, path }) => part === 'body' && path === '')?.message}
            onChange={(text) => change({ text })}
          />
          {route.body?.kind === 'bytes' && (
            <FileInput id="body-file" onBase64={(text) => change({ text })} />
          )}
        </>
      )}
    </fieldset>
  );
}

/** A subject that was typed stays visible when the service no longer takes tokens: what is sent is shown. */
function SendAsPart({ state, service }: PartProps) {
  const call = state.call.value;
  const { sendAs } = call;
  if (service.developmentTokens !== true && sendAs.subject === '') return null;
  const field = (name: keyof typeof sendAs, label: string, hint: string) => (
    <TextField
      id={`send-as-${name}`}
      label={label}
      hint={hint}
      value={sendAs[name]}
      onChange={(text) => (state.call.value = { ...call, sendAs: { ...sendAs, [name]: text } })}
    />
  );
  return (
    <fieldset>
      <legend>Send as</legend>
      {field('subject', 'Subject', 'empty: sent without a token')}
      {field('roles', 'Roles', 'with blanks between them')}
      {field('scopes', 'Scopes', 'with blanks between them')}
    </fieldset>
  );
}

function bodyLabel({ body }: ServiceRoute): string {
  if (body?.kind === 'text') return 'Text';
  return body?.kind === 'bytes' ? 'Bytes, as base64' : 'JSON';
}

function MorePart({ state, route }: PartProps) {
  const call = state.call.value;
  const change = (next: Partial<CallDraft>) => (state.call.value = { ...call, ...next });
  const setHeader = (at: number, name: string, value: string) =>
    change({ headers: call.headers.with(at, [name, value]) });
  return (
    <details class="more-parts" open={call.headers.length > 0 || call.query !== ''}>
      <summary>
        {route.query === undefined ? 'Query and headers' : 'More query and headers'}
      </summary>
      <TextField
        id="query"
        label="Query"
        hint="not declared by the module: a=1&b=2"
        value={call.query}
        onChange={(query) => change({ query })}
      />
      {call.headers.map(([name, value], at) => (
        <div class="pair" key={at}>
          <TextField
            id={`header-name-${at}`}
            label="Header"
            value={name}
            onChange={(next) => setHeader(at, next, value)}
          />
          <TextField
            id={`header-value-${at}`}
            label="Value"
            value={value}
            onChange={(next) => setHeader(at, name, next)}
          />
          <button
            type="button"
            class="icon-button"
            aria-label={`Remove header ${name}`}
            onClick={() => change({ headers: call.headers.toSpliced(at, 1) })}
          >
            <Icon name="remove" />
          </button>
        </div>
      ))}
      <div class="actions">
        <button
          type="button"
          class="quiet"
          onClick={() => change({ headers: [...call.headers, ['', '']] })}
        >
          <Icon name="add" /> Header
        </button>
        {takesIdempotencyKey(route) && (
          <button type="button" class="quiet" onClick={() => state.newKey()}>
            New idempotency key
          </button>
        )}
      </div>
    </details>
  );
}

function Actions({ state, route, service, problems }: PartProps) {
  const address = service.instances[0]?.address ?? '';
  const sentMs = state.sentMs.value;
  return (
    <div class="actions is-main">
      <button class="primary" disabled={sentMs !== undefined} title="Ctrl Enter">
        {sentMs === undefined ? (
          problems.length > 0 ? (
            'Send anyway'
          ) : (
            'Send'
          )
        ) : (
          <Sending sentMs={sentMs} />
        )}
      </button>
      {sentMs === undefined ? (
        <button
          type="button"
          class="quiet"
          onClick={() => state.reset(emptyCall(route, service.types))}
        >
          Reset
        </button>
      ) : (
        <button type="button" class="quiet" onClick={() => state.cancel()}>
          Cancel
        </button>
      )}
      <CopyButton
        text={curlLine(address, callRequest(state.call.value, route))}
        what="curl command"
        label="Copy as curl"
      />
    </div>
  );
}

function Sending({ sentMs }: { readonly sentMs: number }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 100);
    return () => clearInterval(timer);
  }, []);
  return <>Sending… {durationText(Math.max(100, Math.round((now - sentMs) / 100) * 100))}</>;
}
