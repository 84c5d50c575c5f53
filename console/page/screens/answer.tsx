// Answer: the selected response of a route: status, duration and trace, reason of a failure, body and headers, followed
// by the list of the route's latest responses.
import type { ServiceDescription, TraceDetail } from '@svc/contract';
import { getJson, observed, ApiProblem } from '../api.ts';
import type { Answered, CallState } from '../form/call-state.ts';
import { pause, useLoaded } from '../loaded.ts';
import { CopyButton } from '../parts/copy.tsx';
import { FaultPanel } from '../parts/fault-panel.tsx';
import { JsonTree } from '../parts/json-tree.tsx';
import { statusOutcome } from '../parts/outcome.tsx';
import { TextBlock } from '../parts/text-block.tsx';
import { Clock } from '../parts/clock.tsx';
import { hashOf } from '../route.ts';
import { answerReason, handlerSpan } from '../view/answer-reason.ts';
import { answerBody, refusalOf, statusWord } from '../view/answer-view.ts';
import { amountText, bytesText, durationText } from '../view/number-text.ts';
import { visibleLine, visibleText } from '../view/visible-text.ts';

export function AnswerPanel({
  state,
  service,
}: {
  readonly state: CallState;
  readonly service: ServiceDescription;
}) {
  const answers = state.answers.value;
  const shown = answers.find(({ number }) => number === state.shown.value);
  if (shown === undefined) return null;
  const restore = (answered: Answered) => {
    state.shown.value = answered.number;
    state.call.value = answered.call;
  };
  return (
    <section class="answer" aria-label="Answer">
      <AnswerHead answered={shown} service={service} />
      <Why answered={shown} state={state} service={service} />
      <Body answered={shown} />
      <details class="headers">
        <summary>{amountText(shown.answer.headers.length, 'header')}</summary>
        <table>
          <tbody>
            {shown.answer.headers.map(([name, value], at) => (
              <tr key={at}>
                <th scope="row">{visibleLine(name)}</th>
                <td>{visibleLine(value)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
      {answers.length > 1 && (
        <nav class="earlier" aria-label="Earlier answers">
          <h3>Answers of this route</h3>
          <ol>
            {answers.map((one) => (
              <li key={one.number}>
                <button
                  type="button"
                  class="quiet"
                  aria-pressed={one === shown}
                  onClick={() => restore(one)}
                >
                  <Clock time={one.at} />
                  <span class={`number is-${statusOutcome(one.answer.status)}`}>
                    {one.answer.status}
                  </span>
                  <span class="number dim">{durationText(one.answer.durationMs)}</span>
                </button>
              </li>
            ))}
          </ol>
        </nav>
      )}
    </section>
  );
}

function AnswerHead({
  answered: { answer, request },
  service,
}: {
  readonly answered: Answered;
  readonly service: ServiceDescription;
}) {
  const { instanceId } = service;
  const { status, durationMs, traceId } = answer;
  return (
    <header class={`answer-head is-${statusOutcome(status)}`}>
      <h2>
        <span class="status">{status}</span> {statusWord(status)}
      </h2>
      <span class="number">{durationText(durationMs)}</span>
      <a href={hashOf({ screen: 'trace', instanceId, traceId })}>Trace</a>
      <span class="dim asked">
        {request.method} {visibleLine(request.path)}
      </span>
    </header>
  );
}

/**
 * Displays why a request failed, as found in its trace. The trace has what the caller does not receive: the invocation
 * that decided the answer, the module's message, and its source location.
 */
function Why({
  answered: { number, answer, request, reason: known },
  state,
  service,
}: {
  readonly answered: Answered;
  readonly state: CallState;
  readonly service: ServiceDescription;
}) {
  const { status, traceId, body } = answer;
  const isFailure = status >= 400;
  const key = isFailure && known === undefined ? traceId : undefined;
  const found = useLoaded(key, async (signal) => {
    const trace = await traceSoon(service.instanceId, traceId, signal);
    const why = answerReason(status, { ...request, routes: service.routes }, trace);
    if (handlerSpan(trace) !== undefined) state.explain(number, why);
    return why;
  });
  if (!isFailure) return null;
  const message = refusalOf(body);
  const reason = known ?? found.value;
  const fault = reason?.failed?.fault;
  return (
    <>
      {message !== undefined && fault == null && <p class="refusal">{visibleText(message)}</p>}
      {reason !== undefined && reason.text !== '' && (
        <p class="dim reason">{visibleText(reason.text)}</p>
      )}
      {fault != null && (
        <FaultPanel fault={fault} outcome={reason?.failed?.outcome ?? 'Failed'} title="Why" />
      )}
      {reason === undefined && (
        <p class="dim why-place">
          {found.problem === undefined
            ? 'Looking for the reason…'
            : visibleText(found.problem.message)}
        </p>
      )}
    </>
  );
}

const TRIES_MAX = 5;
const TRY_EVERY_MS = 150;

/**
 * Polls for the trace of an answer, whose spans are recorded a moment later. Returns what there is after TRIES_MAX
 * attempts; undefined if there is no trace.
 */
async function traceSoon(
  instanceId: string,
  traceId: string,
  signal: AbortSignal,
): Promise<TraceDetail | undefined> {
  for (let tries = 1; ; tries++) {
    try {
      const trace = await getJson<TraceDetail>(observed(instanceId, 'traces', traceId), signal);
      // The spans of calls are recorded before the handler's span, so a trace without that span may be incomplete.
      if (tries === TRIES_MAX || handlerSpan(trace) !== undefined) return trace;
    } catch (error) {
      const isMissing = error instanceof ApiProblem && error.status === 404;
      if (!isMissing) throw error;
      if (tries === TRIES_MAX) return undefined;
    }
    await pause(TRY_EVERY_MS, signal);
    signal.throwIfAborted();
  }
}

function Body({ answered: { answer } }: { readonly answered: Answered }) {
  const body = answerBody(answer);
  switch (body.kind) {
    case 'none':
      return <p class="dim">No content.</p>;
    case 'json':
      return <JsonTree text={body.text} label="body" openDepth={4} />;
    case 'text':
      return <TextBlock text={body.text} label="body" />;
    case 'bytes':
      return (
        <div class="bytes">
          <p class="dim">
            {bytesText(body.length)} <CopyButton text={answer.body} what="base64" />
          </p>
          <TextBlock text={body.hex} label="body, as hexadecimal" />
        </div>
      );
    default:
      return null;
  }
}
