// AnswerReason: the reason of an answer's status, found in its trace: which invocation decided the status, or that no
// handler ran. The status alone is ambiguous: a handler may answer 404 on purpose, and the runtime answers 404 if no
// route matches. The functions are pure.
import type { ServiceRoute, Span, TraceDetail } from '@svc/contract';
import { codeWord, refusalAdvice } from './fault-advice.ts';
import { routesOfPath } from './route-match.ts';
import { causeOf } from './trace-rows.ts';

export interface AnswerReason {
  /** Sentences for the user; empty if the fault of `failed` is displayed instead. */
  readonly text: string;
  /** The invocation that failed or was late, for the details; undefined if the answer was not a fault. */
  readonly failed: Span | undefined;
}

/** The request that was answered, and the routes of its service. */
export interface AskedRequest {
  readonly method: string;
  readonly path: string;
  readonly routes: readonly ServiceRoute[];
}

/** Returns the reason. `trace`: the trace of a request with a status of 400 or above; undefined: none is kept. */
export function answerReason(
  status: number,
  asked: AskedRequest,
  trace: TraceDetail | undefined,
): AnswerReason {
  const request = handlerSpan(trace);
  if (trace === undefined || request === undefined)
    return { text: reasonWithoutTrace(status, asked), failed: undefined };
  const cause = causeOf(trace);
  if (request.fault === null) return { text: ownAnswer(request, status, cause), failed: undefined };
  if (cause?.fault == null || cause.outcome !== 'Refused')
    return { text: '', failed: cause ?? request };
  return { text: refusal(request, cause), failed: undefined };
}

/** Describes an answer that the handler gave by itself, perhaps because of a call. */
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

/** Returns the span of the handler that the request reached; undefined if no handler ran, or the span is not kept. */
export function handlerSpan(trace: TraceDetail | undefined): Span | undefined {
  return trace?.roots.find(({ kind }) => kind === 'endpoint');
}

/**
 * Describes an answer without a trace. A missing trace does not prove that no handler ran: the service keeps only its
 * newest spans.
 */
function reasonWithoutTrace(status: number, { method, path, routes }: AskedRequest): string {
  const ofPath = routesOfPath(routes, path);
  if (ofPath.length === 0 && status === 404)
    return 'No handler ran. No route of the service has this path.';
  const isRouted = ofPath.some((route) => route.method === method);
  if (ofPath.length > 0 && !isRouted && status === 405)
    return `No handler ran. A route has this path, but not for ${method}.`;
  const reason = RUNTIME_REASONS[status];
  return reason === undefined
    ? 'The trace of this request is not in the window, so there is nothing to say about its handler.'
    : `Either no handler ran (${reason}), or the trace of this request is no longer in the window.`;
}

/**
 * Reasons why the runtime answers without a handler, by status; a handler may answer with the same statuses. 404 and
 * 405 are not among them, because they follow from the routes.
 */
const RUNTIME_REASONS: Readonly<Record<number, string>> = {
  400: 'the runtime takes no request whose address, header or body is malformed',
  401: 'the route asks for an access token, and the request has none that is good',
  403: 'the access rule of the route does not admit this caller, or the caller lacks a role or a scope',
  408: 'the request did not arrive in time',
  413: 'the body is larger than the service takes, svc.http.body-bytes-max',
  415: 'the body has another media type than the route declares',
  431: 'address and headers are longer than the service takes',
  503: 'the service is overloaded or stopping; the header Retry-After says when to try again',
};
