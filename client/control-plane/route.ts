// Route: one row of the table of routes, and what follows from a row.
import { PARAMETERS, type ParameterName } from './identifiers.ts';
import type { Schema, Shown, ValueOf } from './schema.ts';

/**
 * Callers of a route: anyone, without a token; a caller with a valid token; members of the organization, or also platform
 * administrators (`reader`); owners; platform administrators.
 */
export type Caller = 'anyone' | 'caller' | 'reader' | 'member' | 'owner' | 'administrator';

/** `Who`: words for its callers. */
export interface Route<Who extends string = Caller> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Template with the names of parameters in braces. */
  readonly path: `/${string}`;
  readonly who: Who;
  /** Sentence for people, without a full stop. */
  readonly summary: string;
  /** Further sentences for people. */
  readonly description?: string;
  readonly query?: Readonly<Record<string, Schema<unknown>>>;
  readonly body?: Schema<unknown>;
  /** True: a request without a body means an empty object. */
  readonly isBodyOptional?: true;
  /** Body of the answer; absent: the answer is 204, without a body. */
  readonly answer?: Schema<unknown>;
  /** Status of an answer with a body, if it is not 200. */
  readonly success?: 201 | 202;
  /** Status → when it refuses, for the statuses that do not follow from the rest of the row (`refusalsOf`). */
  readonly refusals?: Readonly<Record<number, string>>;
}

/** Names of the parameters in a template. */
export type ParametersIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParametersIn<Rest>
  : never;

type BodyInput<Of extends Route<string>> = Of extends { readonly body: infer Body }
  ? Of extends { readonly isBodyOptional: true }
    ? { readonly body?: ValueOf<Body> }
    : { readonly body: ValueOf<Body> }
  : {};
type QueryInput<Of extends Route<string>> = Of extends { readonly query: infer Query }
  ? { readonly [Name in keyof Query]?: ValueOf<Query[Name]> }
  : {};

/** Input of a route: path parameters and query parameters by their names, and `body`. */
export type InputOfRoute<Of extends Route<string>> = Shown<
  { readonly [Parameter in ParametersIn<Of['path']>]: string } & QueryInput<Of> & BodyInput<Of>
>;
/** Value of a route's answer; undefined for one without a body. */
export type AnswerOfRoute<Of extends Route<string>> = Of extends { readonly answer: infer Answer }
  ? ValueOf<Answer>
  : undefined;

/** Returns the names of a path's parameters, in its order. */
export function parametersIn(path: string): readonly string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
}

/** Returns the names of the parameters of a route of the control plane, in the order of its path. */
export function parametersOf({ path }: Pick<Route, 'path'>): readonly ParameterName[] {
  return parametersIn(path).map((name) => {
    if (!Object.hasOwn(PARAMETERS, name)) throw new TypeError(`no parameter is called ${name}`);
    return name as ParameterName;
  });
}

/** Returns the status of a route's success. */
export function successOf({
  answer,
  success,
}: Pick<Route, 'answer' | 'success'>): 200 | 201 | 202 | 204 {
  return answer === undefined ? 204 : (success ?? 200);
}

/** Returns whether the route works while the organization is disabled. */
export function worksWhileDisabled({ method, who }: Pick<Route, 'method' | 'who'>): boolean {
  return method === 'GET' || who === 'administrator';
}

const NEEDED_ROLE: Readonly<Partial<Record<Caller, string>>> = {
  owner: 'the caller is a member, and no owner',
  administrator: 'the caller is no platform administrator',
};

/** Returns every status with which a route of the control plane refuses, in ascending order, with the reason for it. */
export function refusalsOf(route: Route): ReadonlyMap<number, string> {
  const { who, path } = route;
  const isBelow = path.includes('{') && who !== 'caller';
  const isMembers = isBelow || who === 'member';
  return refusalsWith(route, {
    program: 'the control plane',
    forbidden: [
      NEEDED_ROLE[who],
      isMembers && !worksWhileDisabled(route) ? 'the organization is disabled' : undefined,
    ],
    notFound: [isMembers ? 'it does not exist, or the caller may not see it' : undefined],
  });
}

/** Words of a program for its refusals, which the rows of its table do not have. */
export interface RefusalWords {
  /** The program that answers. */
  readonly program: string;
  /** Reasons for 403 and 404 that follow from who may use the route. */
  readonly forbidden: readonly (string | undefined)[];
  readonly notFound: readonly (string | undefined)[];
}

/** Returns the same for a route of any table. */
export function refusalsWith(
  { who, body, query, path, method, refusals = {} }: Route<string>,
  { program, forbidden, notFound }: RefusalWords,
): ReadonlyMap<number, string> {
  const reasons: [number, readonly (string | undefined)[]][] = [
    [
      400,
      [
        body !== undefined || query !== undefined
          ? `the ${body === undefined ? 'query' : 'body'} is invalid; every problem is reported`
          : 'the request has a body',
        path.includes('{') ? 'an identifier is invalid' : undefined,
      ],
    ],
    [401, [who === 'anyone' ? undefined : 'there is no token, or it is invalid or expired']],
    [403, forbidden],
    [404, notFound],
    [413, [body === undefined ? undefined : 'the body is larger than 1 MiB']],
    [422, [method === 'GET' ? undefined : 'the `Idempotency-Key` was sent with another request']],
    [429, ['the caller sends too many requests; `Retry-After` says when to send again']],
    [500, [`${program} has failed`]],
    [503, ['nothing was done, and the request may be sent again; `Retry-After` says when']],
    [504, ['the call was not completed in time, and its outcome is unknown']],
  ];
  const all = new Map<number, string>();
  for (const status of [...reasons.map(([known]) => known), ...Object.keys(refusals).map(Number)]) {
    const derived = reasons.find(([known]) => known === status)?.[1] ?? [];
    const words = [...derived, refusals[status]].filter((each) => each !== undefined);
    if (words.length > 0) all.set(status, words.join('; '));
  }
  return new Map([...all].toSorted(([a], [b]) => a - b));
}
