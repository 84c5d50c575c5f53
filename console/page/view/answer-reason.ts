// AnswerReason: why an answer has the status that it has, by its trace: which invocation decided it, or that none ran.
// The status alone does not say: a handler may answer 404 on purpose, and so may the runtime when no route fits. Pure.
import type { Span, TraceDetail } from '@svc/contract';
import { codeWord, refusalAdvice } from './fault-advice.ts';
import { causeOf } from './trace-rows.ts';

export interface AnswerReason {
  readonly text: string;
  /** The invocation that failed or was late, which is shown in full; undefined: it was an answer, not a fault. */
  readonly failed: Span | undefined;
}

/** `trace`: of a request whose answer is 400 or above; undefined: no span of it is kept. */
export function answerReason(
  status: number,
  method: string,
  trace: TraceDetail | undefined,
): AnswerReason {
  const request = trace?.roots.find(({ kind }) => kind === 'endpoint');
  if (trace === undefined || request === undefined)
    return { text: reasonOfRuntime(status, method), failed: undefined };
  const cause = causeOf(trace);
  if (request.fault === null) return { text: ownAnswer(request, status, cause), failed: undefined };
  if (cause?.fault == null || cause.outcome !== 'Refused')
    return { text: '', failed: cause ?? request };
  return { text: refusal(request, cause), failed: undefined };
}

/** A handler that has made the answer by itself, perhaps because of a call. */
export function ownAnswer(request: Span, status: number | null, cause?: Span): string {
  const own = `${nameOf(request)} answered ${status ?? 'this'} on purpose.`;
  if (cause?.fault == null) return own;
  const word = cause.outcome === 'Refused' ? 'refused a call' : 'failed';
  return `${own} Before that, ${nameOf(cause)} ${word}: ${codeWord(cause.fault.code)}.`;
}

function refusal(request: Span, cause: Span): string {
  const { code } = cause.fault!;
  const passedOn =
    cause === request || request.fault?.code !== code
      ? ''
      : ` ${nameOf(request)} passed the refusal on.`;
  return `${nameOf(cause)} refused it: ${codeWord(code)}.${passedOn} ${refusalAdvice(code)}`;
}

function nameOf({ component, handler }: Span): string {
  return `${component}.${handler}`;
}

/** Statuses that the runtime gives before a handler runs, or in its place. */
function reasonOfRuntime(status: number, method: string): string {
  const reason = RUNTIME_REASONS[status]?.replace('METHOD', method);
  return reason === undefined
    ? 'The trace of this request is not in the window, so there is nothing to say about its handler.'
    : `No handler ran. ${reason}`;
}

const RUNTIME_REASONS: Readonly<Record<number, string>> = {
  400: 'The runtime takes no such request: its address, a header or its body is malformed.',
  403: 'The access rule of the route does not admit this caller.',
  404: 'No route of the service has this path.',
  405: 'A route has this path, but not for METHOD.',
  408: 'The request did not arrive in time.',
  413: 'The body is larger than the service takes (svc.http.body-bytes-max).',
  415: 'The body has another media type than the route declares.',
  431: 'Address and headers are longer than the service takes.',
  503: 'The service is overloaded or stopping; the header Retry-After says when to try again.',
};
