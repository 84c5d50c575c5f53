// EndpointDefinition: routes and their handlers in TypeScript. A handler is an async function that runs once
// for a request; what it takes and answers follows from the path and the schemas.
import type { AccessRule } from '@svc/contract';
import type { Awaitable } from '../../model/call.ts';
import type { HeaderList } from '../../model/endpoint.ts';
import { type Codec, type Schema, type ValueOf, codecOf } from './codec.ts';
import type { ReadonlyDeep } from './entity-context.ts';
import type { EntityClient } from './entity-client.ts';
import type { EntityDefinition } from './entity-definition.ts';
import { type Ok, type Refused } from './result.ts';
import { invalidDefinition } from './shape.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** JSON of a schema, text, or bytes as they are. */
export type BodyType = Schema | 'text' | 'bytes';

/** A body's value; absent: `Nothing`. */
type BodyValue<Body, Nothing> = Body extends 'text'
  ? string
  : Body extends 'bytes'
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

export interface RouteRequest<Parameters, Query, Body> {
  /** Of the path, decoded. */
  readonly parameters: Parameters;
  readonly query: Query;
  readonly body: Body;
  /** As it arrived, without the question mark. */
  readonly queryText: string;
  /** In their order, names in lower case. */
  readonly headers: HeaderList;
  /** The first of the name, in whatever case. */
  readonly header: (name: string) => string | undefined;
  /** `internet`, `service <project>/<service>` or `local`. */
  readonly caller: string;
}

export interface EndpointContext {
  /** A client of an entity of this service; the request's metadata goes along. */
  readonly call: <Definition extends EntityDefinition>(
    entity: Definition,
    id: string,
  ) => EntityClient<Definition>;
  /** Milliseconds since 1970-01-01T00:00:00Z: of the request, and after a call of its answer. Read it when it is needed. */
  readonly nowMs: number;
  /** 64 random bits. */
  readonly seed: bigint;
  /** From 0 up to 1, made from the seed. */
  readonly random: () => number;
  /** Of the request: `traceparent`, `tracestate`. */
  readonly metadata: (name: string) => string | undefined;
}

export interface ResponseOptions {
  /** Absent: 200, or 204 of what has no reply. */
  readonly status?: number;
  /** One more for each; a `content-type` goes before that of the value's type. */
  readonly headers?: Readonly<Record<string, string>> | HeaderList;
}

/** A value with a status and headers of its own. */
export class Response<Value> {
  readonly value: Value;
  readonly status: number | undefined;
  readonly headers: HeaderList;

  constructor(value: Value, { status, headers = [] }: ResponseOptions = {}) {
    this.value = value;
    this.status = status;
    this.headers = Array.isArray(headers) ? (headers as HeaderList) : Object.entries(headers);
  }
}

/** The answer of a route with a status and headers: `return respond(list, { status: 201 })`. */
export function respond<Value>(value: Value, options?: ResponseOptions): Response<Value> {
  return new Response(value, options);
}

/** What a handler answers: a value, what an entity answered, a refusal, or a value with a status. */
export type Answer<Value> =
  | ReadonlyDeep<Value>
  | Ok<ReadonlyDeep<Value>>
  | Refused
  | Response<ReadonlyDeep<Value>>;

interface RouteOptions<Path extends string, Parameters, Query, Reply> {
  /** Of parameters that are no text, by their names: integers, numbers, booleans, enums. */
  readonly parameters?: Parameters & {
    readonly [Name in keyof Parameters]: Name extends NamesIn<Path> ? Schema : never;
  };
  /** Of an object, a field for each name. */
  readonly query?: Query;
  /** Absent: no content (204). */
  readonly reply?: Reply;
  /** Overrides the endpoint's. */
  readonly access?: Access;
}

type Handler<Path extends string, Parameters, Query, Body, Reply> = (
  request: RouteRequest<
    ParameterValues<Path, Parameters>,
    Query extends Schema ? ValueOf<Query> : undefined,
    BodyValue<Body, undefined>
  >,
  context: EndpointContext,
) => Awaitable<Reply extends BodyType ? Answer<BodyValue<Reply, never>> : NoAnswer>;

/** Of a route without a reply. */
type NoAnswer = void | null | Ok<unknown> | Refused | Response<null>;

type RouteWithBody = <
  const Path extends string,
  Parameters = unknown,
  Query = undefined,
  const Body = undefined,
  const Reply = undefined,
>(
  path: Path,
  options: RouteOptions<Path, Parameters, Query, Reply> & { readonly body?: Body & BodyType },
  handle: Handler<Path, Parameters, Query, Body, Reply>,
) => RouteDefinition;

type RouteWithoutBody = <
  const Path extends string,
  Parameters = unknown,
  Query = undefined,
  const Reply = undefined,
>(
  path: Path,
  options: RouteOptions<Path, Parameters, Query, Reply>,
  handle: Handler<Path, Parameters, Query, undefined, Reply>,
) => RouteDefinition;

/** Who may call: `{ services: ['orders', 'billing.finance'] }` names services, `services` is any of the project. */
export type Access =
  | 'internet'
  | 'services'
  | 'local'
  | 'nobody'
  | { readonly services: readonly string[] };

export interface RouteDefinition {
  readonly method: Method;
  readonly path: string;
  readonly parameters: readonly { readonly name: string; readonly codec: Codec }[];
  readonly query: Codec | undefined;
  readonly body: RouteBody | undefined;
  readonly reply: RouteBody | undefined;
  readonly access: AccessRule | undefined;
  readonly handle: (request: unknown, context: EndpointContext) => unknown;
}

/** `codec`: of JSON. */
export type RouteBody =
  | { readonly kind: 'json'; readonly codec: Codec }
  | { readonly kind: 'text' | 'bytes'; readonly codec?: undefined };

export interface EndpointDefinition {
  readonly name: string;
  readonly prefix: string;
  readonly access: AccessRule;
  /** By the names that the descriptor gives their handlers. */
  readonly routes: Readonly<Record<string, RouteDefinition>>;
}

export interface EndpointSpecification {
  /** For the log and the descriptor; absent: made of the prefix. */
  readonly name?: string;
  /** Routes begin with it: `/carts`. */
  readonly prefix: string;
  readonly access: Access;
  readonly routes: Readonly<Record<string, RouteDefinition>>;
}

export function defineEndpoint({
  name,
  prefix,
  access,
  routes,
}: EndpointSpecification): EndpointDefinition {
  const words = prefix.replaceAll(/[^A-Za-z0-9]+/g, '_').replaceAll(/^_+|_+$/g, '');
  return { name: name ?? `endpoint_${words}`, prefix, access: accessRule(access), routes };
}

export const get = route('GET') as RouteWithoutBody;
/** A route of DELETE. */
export const del = route('DELETE') as RouteWithoutBody;
export const post = route('POST') as RouteWithBody;
export const put = route('PUT') as RouteWithBody;
export const patch = route('PATCH') as RouteWithBody;

interface AnyOptions {
  readonly parameters?: Readonly<Record<string, Schema>>;
  readonly query?: Schema;
  readonly body?: BodyType;
  readonly reply?: BodyType;
  readonly access?: Access;
}

const TEXT_PARAMETER: Schema = { type: 'string' };

function route(method: Method) {
  return (
    path: string,
    options: AnyOptions,
    handle: RouteDefinition['handle'],
  ): RouteDefinition => {
    const place = `route ${method} ${path}`;
    const { parameters = {}, query, access } = options;
    const names = [...path.matchAll(/\{([^{}]*)\}/g)].map(([, name]) => name!);
    for (const name of Object.keys(parameters))
      if (!names.includes(name))
        throw invalidDefinition(place, `the path has no parameter '${name}'`, `Write {${name}}.`);
    return {
      method,
      path,
      parameters: names.map((name) => ({
        name,
        codec: codecOf(parameters[name] ?? TEXT_PARAMETER, `${place}, parameter '${name}'`),
      })),
      query: query && codecOf(query, `${place}, query`),
      body: bodyOf(options.body, `${place}, body`),
      reply: bodyOf(options.reply, `${place}, reply`),
      access: access && accessRule(access),
      handle,
    };
  };
}

function bodyOf(body: BodyType | undefined, place: string): RouteBody | undefined {
  if (body === undefined) return undefined;
  if (body === 'text' || body === 'bytes') return { kind: body as 'text' | 'bytes' };
  return { kind: 'json', codec: codecOf(body, place) };
}

function accessRule(access: Access): AccessRule {
  return typeof access === 'string'
    ? { allow: access }
    : { allow: 'services', services: [...access.services] };
}
