// ApiRoutes: the routes of an embedded service, made from a table of routes, so that method, path, words, callers and input
// cannot differ from it. A handler is what is left: one flow, and its result.
import {
  problemsText,
  successOf,
  type AnswerOfRoute,
  type InputOfRoute,
  type Route,
} from '@svc/client';
import {
  del,
  get,
  patch,
  post,
  put,
  respondError,
  type CheckedContext,
  type CheckedRoutes,
  type EndpointContext,
  type RouteDefinition,
  type RouteRequest,
} from '@svc/host';
import { type ApiAnswer, apiAnswer, type ApiResult } from './api-answer.ts';
import type { ApiTable, RouteRows } from './api-table.ts';
import { decodedInput } from './decoded-input.ts';

/** A request that has passed its checks and is decoded. `given`: the result of the last check. */
export interface ApiRequest<Of extends Route<string>, Given> extends Pick<EndpointContext, 'call'> {
  readonly input: InputOfRoute<Of>;
  readonly given: Given;
}

/** Value of a handler's result: null for a route whose answer has no body. */
type Replied<Of extends Route<string>> =
  AnswerOfRoute<Of> extends undefined ? null : AnswerOfRoute<Of>;

export type ApiHandler<Of extends Route<string>, Given> = (
  request: ApiRequest<Of, Given>,
) => Promise<ApiResult<Replied<Of>>>;

/** Handlers by the names of the routes. `Givens`: the results of their last checks, by the same names. */
export type ApiHandlers<
  Rows extends RouteRows,
  Givens extends Readonly<Record<keyof Rows, unknown>>,
> = { readonly [Name in keyof Rows]: ApiHandler<Rows[Name], Givens[Name]> };

/** Makes a route for each row. `checkedBy`: makes a route behind its checks; undefined: it has none. */
export function apiRoutes<
  Rows extends RouteRows,
  Givens extends Readonly<Record<keyof Rows, unknown>>,
>(
  table: ApiTable<Rows>,
  handlers: ApiHandlers<Rows, Givens>,
  checkedBy: (name: keyof Rows) => CheckedRoutes<unknown> | undefined,
): Readonly<Record<keyof Rows, RouteDefinition>> {
  const names: readonly (keyof Rows)[] = Object.keys(table.routes);
  return Object.fromEntries(
    names.map((name) => [name, apiRoute(name, table, handlers[name], checkedBy(name))]),
  ) as Record<keyof Rows, RouteDefinition>;
}

function apiRoute<Rows extends RouteRows, Name extends keyof Rows, Given>(
  name: Name,
  table: ApiTable<Rows>,
  handle: ApiHandler<Rows[Name], Given>,
  checked: CheckedRoutes<unknown> | undefined,
): RouteDefinition {
  const route = table.routes[name]!;
  const refusals = table.refusalsOf(route);
  return definedRoute({ route, refusals, checked }, async (request, { given, call }) => {
    const decoded = decodedInput(name, request, table);
    if ('problems' in decoded) return respondError(400, problemsText(decoded.problems));
    const result = await handle({ input: decoded.input, given: given as Given, call });
    return apiAnswer(route, result, table);
  });
}

type AnyRequest = RouteRequest<Readonly<Record<string, string>>, undefined, Uint8Array>;
type AnyHandler = (request: AnyRequest, context: CheckedContext<unknown>) => Promise<ApiAnswer>;
type Maker = (path: string, options: object, handle: AnyHandler) => RouteDefinition;

export interface DefinedRow {
  readonly route: Route<string>;
  /** Every status with which the route refuses, with the reason for it. */
  readonly refusals: ReadonlyMap<number, string>;
  /** Makes the route behind its checks; undefined: it has none. */
  readonly checked: CheckedRoutes<unknown> | undefined;
}

/** Makes a route of a row and its handler. Its path is whole: the endpoint's prefix is empty. */
export function definedRoute(
  { route, refusals, checked }: DefinedRow,
  handle: AnyHandler,
): RouteDefinition {
  const made = checked ?? { get, patch, post, put, del };
  const makers = {
    GET: made.get,
    POST: made.post,
    PUT: made.put,
    PATCH: made.patch,
    DELETE: made.del,
  };
  const make = makers[route.method] as unknown as Maker;
  const { path, summary, description } = route;
  const options = {
    summary,
    ...(description !== undefined && { description }),
    answers: [successOf(route)],
    refusals: Object.fromEntries(refusals),
    ...(checked !== undefined && { security: { scheme: 'bearer' } }),
    // Bodies are JSON whatever their media type. A body where none belongs is read, too, so that it can be refused.
    body: 'bytes',
    ...(route.answer !== undefined && { reply: 'text' }),
  };
  return make(path, options, handle);
}
