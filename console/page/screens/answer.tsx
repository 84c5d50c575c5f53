// What a route has answered: the status and its time, why it failed, the body, the headers, the trace; and the
// answers before it.
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
import { answerBody, refusalOf, statusWord } from '../view/answer-view.ts';
import { amountText, bytesText, durationText } from '../view/number-text.ts';
import { causeOf } from '../view/trace-rows.ts';
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
      <Why answered={shown} service={service} />
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

/** The trace of the answer tells what the caller is not told: the module's words, and where it stopped. */
function Why({
  answered: { answer, request },
  service,
}: {
  readonly answered: Answered;
  readonly service: ServiceDescription;
}) {
  const { status, traceId, body } = answer;
  const hasTrace = status >= 500;
  const trace = useLoaded<TraceDetail>(hasTrace ? traceId : undefined, (signal) =>
    traceSoon(service.instanceId, traceId, signal),
  );
  const refusal = refusalOf(body);
  const cause = trace.value === undefined ? undefined : causeOf(trace.value);
  if (status < 400) return null;
  return (
    <>
      {refusal !== undefined && cause === undefined && (
        <p class="refusal">{visibleText(refusal)}</p>
      )}
      {status < 500 && <p class="dim">{ruleOf(status, request.method)}</p>}
      {cause?.fault != null && (
        <FaultPanel fault={cause.fault} outcome={cause.outcome} title="Why" />
      )}
      {hasTrace && trace.value === undefined && (
        <p class="dim why-place">
          {trace.problem === undefined
            ? 'Looking for the reason…'
            : visibleText(trace.problem.message)}
        </p>
      )}
    </>
  );
}

const TRIES = 5;
const TRY_EVERY_MS = 150;

/** A span is there a moment after its answer. */
async function traceSoon(
  instanceId: string,
  traceId: string,
  signal: AbortSignal,
): Promise<TraceDetail> {
  for (let tries = 1; ; tries++) {
    try {
      const trace = await getJson<TraceDetail>(observed(instanceId, 'traces', traceId), signal);
      if (causeOf(trace) !== undefined || tries === TRIES) return trace;
    } catch (error) {
      const isMissing = error instanceof ApiProblem && error.status === 404;
      if (!isMissing || tries === TRIES) throw error;
    }
    await pause(TRY_EVERY_MS, signal);
    signal.throwIfAborted();
  }
}

function ruleOf(status: number, method: string): string {
  switch (status) {
    case 403:
      return 'The access rule of the route, or the module, does not admit this caller.';
    case 404:
      return 'No route of the service has this path, or the module does not know what was asked for.';
    case 405:
      return `The path is there, but not for ${method}.`;
    case 413:
      return 'The body is longer than the service takes.';
    case 415:
      return 'The body is of another kind than the route declares.';
    case 429:
      return 'Too many requests: the answer says when to come again.';
    default:
      return '';
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
