// ApiAnswer: the answer of a handler as HTTP. A refusal of an entity has the status of its code, except where a caller can do
// something else about it.
import { successOf, type Route } from '@svc/client';
import { respond, respondError, refuse, type Refused, type Result } from '@svc/host';
import type { ApiTable, RouteRows } from './api-table.ts';

/** An error with a status and headers of its own. */
export type ApiError = ReturnType<typeof respondError>;
/** A value with headers of its own, as `respond` makes it. Its status is that of the route. */
export type ApiResponse<Value> = ReturnType<typeof respond<Value>>;
export type ApiResult<Value> = Result<Value> | ApiResponse<Value> | ApiError;

/** An answer as the runtime takes it; an error has no body of the handler. */
export type ApiAnswer = ApiResponse<string> | ApiResponse<null> | ApiError | Refused;

const SOON = { 'retry-after': '1' };

export function apiAnswer(
  route: Route<string>,
  result: ApiResult<unknown>,
  { maySucceedLater }: Pick<ApiTable<RouteRows>, 'maySucceedLater'>,
): ApiAnswer {
  if ('error' in result) return result;
  if ('isOk' in result && !result.isOk) return refusedAnswer(result, maySucceedLater(result));
  const status = successOf(route);
  const headers = 'headers' in result ? result.headers : [];
  return route.answer === undefined
    ? respond(null, { status, headers })
    : jsonAnswer(JSON.stringify(result.value), { status, headers });
}

/** Returns an answer with a body. `text`: the body, as JSON. */
export function jsonAnswer(text: string, { status, headers = [] }: ApiHead): ApiResponse<string> {
  return respond(text, { status, headers: [['content-type', 'application/json'], ...headers] });
}

interface ApiHead {
  readonly status: number;
  readonly headers?: ApiResponse<unknown>['headers'];
}

function refusedAnswer({ code, message }: Refused, maySucceedLater: boolean) {
  if (maySucceedLater) return respondError(503, message, { headers: SOON });
  if (code === 'TOO_MANY_REQUESTS') return respondError(429, message, { headers: SOON });
  return refuse(message, code);
}
