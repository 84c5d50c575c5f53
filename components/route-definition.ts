// RouteDefinition: a route, its types, and its handler in TypeScript. A handler is a function, usually async, that
// runs at most once for a request; its parameter and result types follow from the path and the schemas. Checks are
// functions that run before the handler and hold what several routes have in common.
import type { AccessRule, BearerRule, CorsDescriptor } from '@svc/contract';
import type { Awaitable } from '@svc/model/call';
import { type Bearer, bearerRule } from './bearer.ts';
import { type Codec, type Schema, type ValueOf, codecOf } from './codec.ts';
import {
  type AnyCheck,
  type Check,
  type CheckDefinition,
  type Declared,
  type GivenBy,
  mergedDeclarations,
  type Security,
} from './check-definition.ts';
import type { RateLimit } from './rate-limit.ts';
import type { Answer, NoAnswer } from './route-answer.ts';
import type { CheckedContext, EndpointContext, RouteRequest } from './route-request.ts';
import { invalidDefinition, targetOf } from './shape.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A schema for a JSON body, text, or raw bytes. */
export type BodyType = Schema | 'text' | 'bytes';

/** Bytes of any media type that the handler reads as JSON by itself. */
export class JsonBytes {
  /** Schema of the JSON in the OpenAPI document; it is not checked. */
  readonly schema: Schema;

  constructor(schema: Schema) {
    this.schema = schema;
  }
}

/**
 * Declares a body of any media type that the handler is given as bytes, and reads as JSON by itself: `body:
 * jsonBytes(Descriptor)`. The schema is for the OpenAPI document and is not checked.
 */
export function jsonBytes(schema: Schema): JsonBytes {
  return new JsonBytes(schema);
}

/** Type of a body's value; `Nothing` without a body. */
type BodyValue<Body, Nothing> = Body extends 'text'
  ? string
  : Body extends 'bytes' | JsonBytes
    ? Uint8Array
    : Body extends Schema
      ? ValueOf<Body>
      : Nothing;

/** `/{id}/items/{sku}` → `id`, `sku` */
type NamesIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | NamesIn<Rest>
  : never;

type ParameterValues<Path extends string, Parameters> = {
  readonly [Name in NamesIn<Path>]: Name extends keyof Parameters
    ? Parameters[Name] extends Schema
      ? ValueOf<Parameters[Name]>
      : string
    : string;
};

interface RouteOptions<Path extends string, Parameters, Query, Reply> extends Declared {
  /** Schemas of path parameters that are not text, by their names: integers, numbers, booleans, enums. */
  readonly parameters?: Parameters & {
    readonly [Name in keyof Parameters]: Name extends NamesIn<Path>
      ? Schema
      : `the path has no parameter {${Name & string}}`;
  };
  /** Schema of the query: an object with a field for each name. */
  readonly query?: Query;
  /** Absent: the route replies without content (204). */
  readonly reply?: Reply;
  /** Overrides the access rule of the endpoint. */
  readonly access?: Access;
  /** Replaces the bearer rule of the endpoint. */
  readonly bearer?: Bearer;
  /** Overrides the CORS of the endpoint. Only a route that the internet may call has one. */
  readonly cors?: Cors;
  /** Statuses of the handler's responses; the first below 300 is the default. */
  readonly answers?: readonly number[];
  /** Summary in the OpenAPI document, in one line. */
  readonly summary?: string;
  readonly description?: string;
}

type Handler<Path extends string, Parameters, Query, Body, Reply, Context> = (
  request: RouteRequest<
    ParameterValues<Path, Parameters>,
    Query extends Schema ? ValueOf<Query> : undefined,
    BodyValue<Body, undefined>
  >,
  context: Context,
) => Awaitable<Reply extends BodyType ? Answer<BodyValue<Reply, never>> : NoAnswer>;

type RouteWithBody<Context> = <
  const Path extends string,
  Parameters = unknown,
  Query = undefined,
  const Body = undefined,
  const Reply = undefined,
>(
  path: Path,
  options: RouteOptions<Path, Parameters, Query, Reply> & {
    readonly body?: Body & (BodyType | JsonBytes);
  },
  handle: Handler<Path, Parameters, Query, Body, Reply, Context>,
) => RouteDefinition;

type RouteWithoutBody<Context> = <
  const Path extends string,
  Parameters = unknown,
  Query = undefined,
  const Reply = undefined,
>(
  path: Path,
  options: RouteOptions<Path, Parameters, Query, Reply>,
  handle: Handler<Path, Parameters, Query, undefined, Reply, Context>,
) => RouteDefinition;

/** Admitted callers: `{ services: ['orders', 'billing.finance'] }` names services, `services` any of the project. */
export type Access =
  | 'internet'
  | 'services'
  | 'local'
  | 'nobody'
  | { readonly services: readonly string[] };

/**
 * Allows pages of other origins to call, within the settings `svc.http.cors.*`: `true` allows all that the settings
 * allow, an object allows less. Without such a declaration no page of another origin can read the responses.
 */
export type Cors =
  | true
  | {
      /** Subset of the allowed origins: `https://shop.example.com`, `https://*.example.com`. */
      readonly origins?: readonly string[];
      /** Subset of the allowed request headers. */
      readonly headers?: readonly string[];
      /** Subset of the allowed response headers. */
      readonly exposedHeaders?: readonly string[];
      /** `false`: pages never send cookies, HTTP authentication or client certificates. */
      readonly credentials?: boolean;
    };

export interface RouteDefinition {
  readonly method: Method;
  readonly path: string;
  readonly parameters: readonly { readonly name: string; readonly codec: Codec }[];
  readonly query: Codec | undefined;
  readonly body: RouteBody | undefined;
  readonly reply: RouteBody | undefined;
  readonly access: AccessRule | undefined;
  readonly bearer: BearerRule | undefined;
  readonly cors: CorsDescriptor | undefined;
  readonly answers: readonly number[] | undefined;
  readonly summary: string | undefined;
  readonly description: string | undefined;
  readonly security: Security | undefined;
  readonly refusals: readonly { readonly status: number; readonly reason: string }[];
  readonly checks: readonly CheckDefinition[];
  readonly handle: (request: unknown, context: CheckedContext<unknown>) => unknown;
}

/** `codec`: codec of a JSON body; with `bytes`, of the JSON that the handler reads from them, for its description only. */
export type RouteBody =
  | { readonly kind: 'json'; readonly codec: Codec }
  | { readonly kind: 'bytes'; readonly codec?: Codec }
  | { readonly kind: 'text'; readonly codec?: undefined };

/** Creates routes whose handlers run behind checks; `context.given` is the result of the last check. */
export interface CheckedRoutes<Given> {
  readonly get: RouteWithoutBody<CheckedContext<Given>>;
  readonly del: RouteWithoutBody<CheckedContext<Given>>;
  readonly post: RouteWithBody<CheckedContext<Given>>;
  readonly put: RouteWithBody<CheckedContext<Given>>;
  readonly patch: RouteWithBody<CheckedContext<Given>>;
  /** Adds a check, which receives the result of the one before it. A limit passes that result on. */
  before<Checked = Given>(
    check: Check<CheckedContext<Given>, Checked> | RateLimit<Given>,
    declared?: Declared,
  ): CheckedRoutes<GivenBy<Checked>>;
}

/**
 * Creates routes behind a check: `const loggedIn = before(callerOf)`, and then `loggedIn.get(…)`. A check that
 * returns a refusal, an error or `respond(null, …)` ends the request before anything of it is decoded. The handler
 * receives any other result in `context.given`. A check that returns nothing is a fault. `declared`: how its refusals are
 * described, for each of the routes.
 */
export function before<Checked = null>(
  check: Check<EndpointContext, Checked> | RateLimit<null>,
  declared: Declared = {},
): CheckedRoutes<GivenBy<Checked>> {
  return checkedRoutes([definitionOf(check as AnyCheck | CheckDefinition, declared)]);
}

function definitionOf(check: AnyCheck | CheckDefinition, declared: Declared): CheckDefinition {
  return typeof check === 'function' ? { declared, start: () => check } : check;
}

function checkedRoutes<Given>(checks: readonly CheckDefinition[]): CheckedRoutes<Given> {
  return {
    get: route('GET', checks) as RouteWithoutBody<CheckedContext<Given>>,
    del: route('DELETE', checks) as RouteWithoutBody<CheckedContext<Given>>,
    post: route('POST', checks) as RouteWithBody<CheckedContext<Given>>,
    put: route('PUT', checks) as RouteWithBody<CheckedContext<Given>>,
    patch: route('PATCH', checks) as RouteWithBody<CheckedContext<Given>>,
    before: (check, declared = {}) =>
      checkedRoutes([...checks, definitionOf(check as AnyCheck | CheckDefinition, declared)]),
  };
}

export const get = route('GET', []) as RouteWithoutBody<EndpointContext>;
/** Creates a route for DELETE. */
export const del = route('DELETE', []) as RouteWithoutBody<EndpointContext>;
export const post = route('POST', []) as RouteWithBody<EndpointContext>;
export const put = route('PUT', []) as RouteWithBody<EndpointContext>;
export const patch = route('PATCH', []) as RouteWithBody<EndpointContext>;

interface AnyOptions extends Declared {
  readonly parameters?: Readonly<Record<string, Schema>>;
  readonly query?: Schema;
  readonly body?: BodyType | JsonBytes;
  readonly reply?: BodyType;
  readonly access?: Access;
  readonly bearer?: Bearer;
  readonly cors?: Cors;
  readonly answers?: readonly number[];
  readonly summary?: string;
  readonly description?: string;
}

const TEXT_PARAMETER: Schema = { type: 'string' };

function route(method: Method, checks: readonly CheckDefinition[]) {
  return (
    path: string,
    options: AnyOptions,
    handle: RouteDefinition['handle'],
  ): RouteDefinition => {
    const location = `route ${method} ${path}`;
    const { parameters = {}, query, access, bearer, cors, answers, summary, description } = options;
    const names = [...path.matchAll(/\{([^{}]*)\}/g)].map(([, name]) => name!);
    for (const name of Object.keys(parameters))
      if (!names.includes(name))
        throw invalidDefinition(
          location,
          `the path has no parameter '${name}'`,
          `Write {${name}} in it, or leave the name out: parameters are schemas by the names in the path, ` +
            'as in { page: Type.Integer() }.',
        );
    const declared = mergedDeclarations([...checks.map((check) => check.declared), options]);
    const schemaOf = (name: string): Schema =>
      (Object.hasOwn(parameters, name) ? parameters[name] : undefined) ?? TEXT_PARAMETER;
    return {
      method,
      path,
      parameters: names.map((name) => ({
        name,
        codec: codecOf(schemaOf(name), `${location}, parameter '${name}'`),
      })),
      query: query && codecOf(query, `${location}, query`),
      body: bodyOf(options.body, `${location}, body`),
      reply: bodyOf(options.reply, `${location}, reply`),
      access: access && accessRule(access),
      bearer: bearer && bearerRule(bearer),
      cors: cors && corsRule(cors),
      answers,
      summary,
      description,
      security: declared.security,
      refusals: Object.entries(declared.refusals ?? {}).map(([status, reason]) => ({
        status: Number(status),
        reason,
      })),
      checks,
      handle,
    };
  };
}

function bodyOf(body: BodyType | JsonBytes | undefined, location: string): RouteBody | undefined {
  if (body === undefined) return undefined;
  if (body === 'text' || body === 'bytes') return { kind: body as 'text' | 'bytes' };
  if (body instanceof JsonBytes) return { kind: 'bytes', codec: codecOf(body.schema, location) };
  return { kind: 'json', codec: codecOf(body, location) };
}

/** Returns whether requests may omit the body, because its type is nullable: an omitted body is null. */
export function isOptionalBody({ codec }: RouteBody): boolean {
  return codec !== undefined && targetOf(codec.shape).kind === 'nullable';
}

export function accessRule(access: Access): AccessRule {
  return typeof access === 'string'
    ? { allow: access }
    : { allow: 'services', services: [...access.services] };
}

/** Converts a CORS declaration for the descriptor, in lower case: header names and origins ignore case. */
export function corsRule(cors: Cors): CorsDescriptor {
  if (cors === true) return {};
  const { origins, headers, exposedHeaders, credentials } = cors;
  return {
    ...(origins === undefined ? {} : { origins: lowerCase(origins) }),
    ...(headers === undefined ? {} : { headers: lowerCase(headers) }),
    ...(exposedHeaders === undefined ? {} : { exposedHeaders: lowerCase(exposedHeaders) }),
    ...(credentials === undefined ? {} : { credentials }),
  };
}

function lowerCase(texts: readonly string[]): string[] {
  return texts.map((text) => text.toLowerCase());
}
