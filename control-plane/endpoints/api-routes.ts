// ApiRoutes: the routes of the embedded service, made from the table of routes, so that method, path, words, callers and input
// cannot differ from it. A handler is what is left: one flow, and its result.
import {
  ROUTES,
  problemsText,
  refusalsOf,
  successOf,
  type AnswerOf,
  type InputOf,
  type Route,
  type RouteName,
} from '@svc/client';
import {
  del,
  get,
  post,
  put,
  respondError,
  type CheckedContext,
  type CheckedRoutes,
  type EndpointContext,
  type Result,
  type RouteDefinition,
  type RouteRequest,
} from '@svc/host';
import type { RouteAuthorization, GivenTo } from '../access/route-authorization.ts';
import { apiAnswer, type ApiError } from './api-answer.ts';
import { decodedInput } from './decoded-input.ts';

/** A request that is authorized and decoded. */
export interface ApiRequest<Name extends RouteName> extends Pick<EndpointContext, 'call'> {
  readonly input: InputOf<Name>;
  readonly given: GivenTo<Name>;
}

/** Value of a handler's result: null for a route whose answer has no body. */
type Replied<Name extends RouteName> = AnswerOf<Name> extends undefined ? null : AnswerOf<Name>;

export type ApiHandler<Name extends RouteName> = (
  request: ApiRequest<Name>,
) => Promise<Result<Replied<Name>> | ApiError>;

/** Handlers of some routes, by the names of the routes. */
export type ApiHandlers<Names extends RouteName> = { readonly [Name in Names]: ApiHandler<Name> };

export interface ApiRoutesOptions {
  readonly authorization: RouteAuthorization;
  /** Domain of the derived hostnames; undefined: there is none. */
  readonly baseDomain: string | undefined;
}

/** Makes routes of handlers. Their paths are whole: the endpoint's prefix is empty. */
export function apiRoutes<Names extends RouteName>(
  handlers: ApiHandlers<Names>,
  options: ApiRoutesOptions,
): Readonly<Record<Names, RouteDefinition>> {
  const names = Object.keys(handlers) as Names[];
  return Object.fromEntries(
    names.map((name) => [name, apiRoute(name, handlers[name], options)]),
  ) as Record<Names, RouteDefinition>;
}

function apiRoute<Name extends RouteName>(
  name: Name,
  handle: ApiHandler<Name>,
  { authorization, baseDomain }: ApiRoutesOptions,
): RouteDefinition {
  const route: Route = ROUTES[name];
  const hasBody = route.answer !== undefined;
  return definedRoute(route, authorization.of(name), async (request, { given, call }) => {
    const decoded = decodedInput(name, request, baseDomain);
    if ('problems' in decoded) return respondError(400, problemsText(decoded.problems));
    const result = await handle({ input: decoded.input, given: given as GivenTo<Name>, call });
    return apiAnswer(result, hasBody);
  });
}

type AnyRequest = RouteRequest<Readonly<Record<string, string>>, undefined, Uint8Array>;
type AnyHandler = (
  request: AnyRequest,
  context: CheckedContext<unknown>,
) => Promise<ReturnType<typeof apiAnswer>>;
type Maker = (path: string, options: object, handle: AnyHandler) => RouteDefinition;

/** Makes a route of a row and its handler. `checked`: makes it behind its checks; undefined: it has none. */
export function definedRoute(
  route: Route,
  checked: CheckedRoutes<unknown> | undefined,
  handle: AnyHandler,
): RouteDefinition {
  const {
    get: getter,
    post: poster,
    put: putter,
    del: deleter,
  } = checked ?? { get, post, put, del };
  const makers = { GET: getter, POST: poster, PUT: putter, DELETE: deleter };
  const make = makers[route.method] as unknown as Maker;
  const { path, summary, description } = route;
  const options = {
    summary,
    ...(description !== undefined && { description }),
    answers: [successOf(route)],
    refusals: Object.fromEntries(refusalsOf(route)),
    ...(checked !== undefined && { security: { scheme: 'bearer' } }),
    // Bodies are JSON whatever their media type. A body where none belongs is read, too, so that it can be refused.
    body: 'bytes',
    ...(route.answer !== undefined && { reply: 'text' }),
  };
  return make(path, options, handle);
}
