// Cors implements the CORS protocol of the Fetch standard for browsers: it answers preflights, and adds
// headers to the answers of routes that pages of other origins may call.
//
// Invariants:
// - A route has a policy only when the operator allows origins and the route's method, the module declares
//   CORS for the route, and the route admits every caller. No other answer, to a preflight or a request, has
//   a header of CORS.
// - A policy never allows more than the operator, whatever the module declares: both have to match an origin.
// - An origin is repeated in an answer only after it matched. An answer that depends on the origin says so in
//   `Vary`, also where the origin did not match or the request has none.
import type { CorsDescriptor } from '@svc/contract';
import type { FieldList } from '@svc/http1';
import type { HeaderList } from '@svc/model/endpoint';
import type { Answer } from './answers.ts';
import { ANY_ORIGIN, type CorsSettings } from './cors-settings.ts';
import type { RouteTable } from './route-table.ts';
import { headerValue } from './request-headers.ts';
import { parseRequestTarget } from './request-target.ts';

type Header = HeaderList[number];

interface Policy {
  /** True: every origin is allowed, and the answer says so with `*` instead of repeating the origin. */
  readonly isOpen: boolean;
  readonly allows: (origin: string) => boolean;
  /** Headers that are added to an answer, except `access-control-allow-origin` and `vary`. */
  readonly answerHeaders: HeaderList;
  /** Headers of the answer to a preflight, except `access-control-allow-origin` and `vary`. */
  readonly preflightHeaders: HeaderList;
}

const VARY_ORIGIN: Header = ['vary', 'Origin'];
const VARY_PREFLIGHT: Header = [
  'vary',
  'Origin, Access-Control-Request-Method, Access-Control-Request-Headers',
];

export class Cors {
  readonly #routes: RouteTable;
  /** Indexed by route. */
  readonly #policies: readonly (Policy | undefined)[];

  private constructor(routes: RouteTable, policies: readonly (Policy | undefined)[]) {
    this.#routes = routes;
    this.#policies = policies;
  }

  /** Returns undefined if no route has a policy, so no answer depends on CORS. */
  static of(settings: CorsSettings, routes: RouteTable): Cors | undefined {
    if (settings.origins.length === 0) return undefined;
    const methods = new Set(settings.methods.map((method) => method.toUpperCase()));
    const policies = routes.routes.map(({ cors, method }) =>
      cors === undefined || !methods.has(method) ? undefined : policyOf(settings, cors, method),
    );
    return policies.some((policy) => policy !== undefined) ? new Cors(routes, policies) : undefined;
  }

  /**
   * Returns the headers for the answer to `OPTIONS`: none unless the request is a preflight of a route with a policy.
   * The browser compares the method and the headers that it asks for with those of the answer, so this function ignores
   * them.
   */
  preflightHeaders(fields: FieldList, segments: readonly string[]): HeaderList {
    const origin = headerValue(fields, 'origin');
    const method = headerValue(fields, 'access-control-request-method');
    if (origin === undefined || method === undefined) return [];
    const found = this.#routes.find(method, segments);
    const policy = found.kind === 'found' ? this.#policies[found.route.index] : undefined;
    if (policy === undefined) return [];
    const allowed = allowedOrigin(policy, origin);
    if (allowed === undefined) return [VARY_PREFLIGHT];
    return [allowed, VARY_PREFLIGHT, ...policy.preflightHeaders];
  }

  /** Adds the headers of the route's policy to its answer, or to one that the server gives in its place. */
  answerOf(answer: Answer, fields: FieldList, routeIndex: number): Answer {
    const policy = this.#policies[routeIndex];
    if (policy === undefined) return answer;
    const allowed = allowedOrigin(policy, headerValue(fields, 'origin'));
    const added = allowed === undefined ? [] : [allowed, ...policy.answerHeaders];
    const vary = policy.isOpen ? [] : [VARY_ORIGIN];
    return { ...answer, headers: [...answer.headers, ...added, ...vary] };
  }

  /** Finds the route of a request that was answered before its route was looked up; -1 if there is none. */
  routeIndex(method: string, target: string): number {
    const parsed = parseRequestTarget(target);
    if (parsed.kind !== 'path') return -1;
    const found = this.#routes.find(method, parsed.segments);
    return found.kind === 'found' ? found.route.index : -1;
  }
}

/** Returns a warning for an operator whose allowed origins have no effect; undefined if there is none. */
export function corsRemark(settings: CorsSettings, routes: RouteTable): string | undefined {
  if (settings.origins.length === 0 || Cors.of(settings, routes) !== undefined) return undefined;
  return (
    'svc.http.cors.origins allows pages of other origins, and no route that they may call declares it: ' +
    'an endpoint or a route does so with cors (@cors in a module)'
  );
}

/** Returns the header that allows the origin; undefined if the origin is not allowed or the request has none. */
function allowedOrigin(policy: Policy, origin: string | undefined): Header | undefined {
  if (policy.isOpen) return ['access-control-allow-origin', ANY_ORIGIN];
  if (origin === undefined || !policy.allows(origin)) return undefined;
  return ['access-control-allow-origin', origin];
}

function policyOf(settings: CorsSettings, declared: CorsDescriptor, method: string): Policy {
  const operatorAllows = originMatcher(settings.origins);
  const moduleAllows =
    declared.origins === undefined ? () => true : originMatcher(declared.origins);
  const credentials: HeaderList =
    settings.credentials && declared.credentials !== false
      ? [['access-control-allow-credentials', 'true']]
      : [];
  const headers = common(settings.headers, declared.headers);
  const exposed = common(settings.exposedHeaders, declared.exposedHeaders);
  return {
    isOpen: settings.origins.includes(ANY_ORIGIN) && declared.origins === undefined,
    allows: (origin) => operatorAllows(origin) && moduleAllows(origin),
    answerHeaders: [...credentials, ...listHeader('access-control-expose-headers', exposed)],
    preflightHeaders: [
      ...credentials,
      ['access-control-allow-methods', method === 'GET' ? 'GET, HEAD' : method],
      ...listHeader('access-control-allow-headers', headers),
      ['access-control-max-age', String(settings.maxAgeSeconds)],
    ],
  };
}

/** Returns a function that matches an origin, as a browser sends it, against origins and patterns. */
function originMatcher(patterns: readonly string[]): (origin: string) => boolean {
  if (patterns.includes(ANY_ORIGIN)) return () => true;
  const exact = new Set<string>();
  const wildcards: (readonly [scheme: string, ending: string])[] = [];
  for (const pattern of patterns) {
    const lower = pattern.toLowerCase();
    const [scheme, ending] = lower.split('*');
    if (ending === undefined) exact.add(lower);
    else wildcards.push([scheme!, ending]);
  }
  return (origin) =>
    exact.has(origin) ||
    wildcards.some(
      ([scheme, ending]) =>
        origin.startsWith(scheme) &&
        origin.endsWith(ending) &&
        LABEL.test(origin.slice(scheme.length, -ending.length)),
    );
}

/** One label of a host name. */
const LABEL = /^[a-z0-9_-]{1,63}$/;

/** Returns the operator's names that the module declares too, in lower case; all of them if `declared` is undefined. */
function common(allowed: readonly string[], declared: readonly string[] | undefined): string[] {
  const names = new Set(allowed.map((name) => name.toLowerCase()));
  return [...names].filter((name) => declared === undefined || declared.includes(name));
}

function listHeader(name: string, values: readonly string[]): HeaderList {
  return values.length === 0 ? [] : [[name, values.join(', ')]];
}
