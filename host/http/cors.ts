// Cors decides what a browser learns about which pages of other origins may call a route (the CORS protocol of the
// Fetch standard): it answers preflights, and adds headers to the answers of routes.
//
// Invariants:
// - A route has a policy only when the operator allows origins and the route's method, the module declares CORS for the
//   route, and the route admits every caller. No other answer, to a preflight or a request, has a header of CORS.
// - A policy never allows more than the operator, whatever the module declares: both have to match an origin.
// - An origin is repeated in an answer only after it matched, and an answer that depends on it says so in `Vary`, also
//   where the origin did not match or the request has none.
import type { CorsDescriptor } from '@svc/contract';
import type { IncomingHttpHeaders } from 'node:http';
import type { HeaderList } from '../model/endpoint.ts';
import type { Answer } from './answers.ts';
import { ANY_ORIGIN, type CorsSettings } from './cors-settings.ts';
import type { RouteTable } from './route-table.ts';
import { parseRequestTarget } from './request-target.ts';

type Header = HeaderList[number];

interface Policy {
  /** Every origin is allowed, and none is repeated. */
  readonly isOpen: boolean;
  readonly allows: (origin: string) => boolean;
  /** Beside the origin, for an answer that a page may read. */
  readonly answerHeaders: HeaderList;
  /** Beside the origin, for a preflight. */
  readonly preflightHeaders: HeaderList;
}

const VARY_ORIGIN: Header = ['vary', 'Origin'];
const VARY_PREFLIGHT: Header = [
  'vary',
  'Origin, Access-Control-Request-Method, Access-Control-Request-Headers',
];

export class Cors {
  readonly #routes: RouteTable;
  /** By the routes' indices. */
  readonly #policies: readonly (Policy | undefined)[];

  private constructor(routes: RouteTable, policies: readonly (Policy | undefined)[]) {
    this.#routes = routes;
    this.#policies = policies;
  }

  /** Undefined: no route has a policy, and no answer depends on CORS. */
  static of(settings: CorsSettings, routes: RouteTable): Cors | undefined {
    if (settings.origins.length === 0) return undefined;
    const methods = new Set(settings.methods.map((method) => method.toUpperCase()));
    const policies = routes.routes.map(({ cors, method }) =>
      cors === undefined || !methods.has(method) ? undefined : policyOf(settings, cors, method),
    );
    return policies.some((policy) => policy !== undefined) ? new Cors(routes, policies) : undefined;
  }

  /**
   * The headers for the answer to `OPTIONS`: none unless it is a preflight of a route with a policy. The browser
   * compares the method and the headers that it asks for with those of the answer, so they are not looked at here.
   */
  preflightHeaders(headers: IncomingHttpHeaders, segments: readonly string[]): HeaderList {
    const { origin, 'access-control-request-method': method } = headers;
    if (origin === undefined || method === undefined) return [];
    const found = this.#routes.find(method, segments);
    const policy = found.kind === 'found' ? this.#policies[found.route.index] : undefined;
    if (policy === undefined) return [];
    const allowed = allowedOrigin(policy, origin);
    if (allowed === undefined) return [VARY_PREFLIGHT];
    return [allowed, VARY_PREFLIGHT, ...policy.preflightHeaders];
  }

  /** The answer of a route, or one that the server gives in its place, with the headers of its policy. */
  answerOf(answer: Answer, headers: IncomingHttpHeaders, routeIndex: number): Answer {
    const policy = this.#policies[routeIndex];
    if (policy === undefined) return answer;
    const allowed = allowedOrigin(policy, headers.origin);
    const added = allowed === undefined ? [] : [allowed, ...policy.answerHeaders];
    const vary = policy.isOpen ? [] : [VARY_ORIGIN];
    return { ...answer, headers: [...answer.headers, ...added, ...vary] };
  }

  /** The route that a request is for which was answered before its route was looked for; -1: none. */
  routeIndex(method: string, target: string): number {
    const parsed = parseRequestTarget(target);
    if (parsed.kind !== 'path') return -1;
    const found = this.#routes.find(method, parsed.segments);
    return found.kind === 'found' ? found.route.index : -1;
  }
}

/** What an operator should know who allows origins in vain; undefined: nothing. */
export function corsRemark(settings: CorsSettings, routes: RouteTable): string | undefined {
  if (settings.origins.length === 0 || Cors.of(settings, routes) !== undefined) return undefined;
  return (
    'svc.http.cors.origins allows pages of other origins, and no route that they may call declares it: ' +
    'an endpoint does so with @cors'
  );
}

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

/** Whether an origin, as a browser sends it, is one of these or covered by one of these. */
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

/** Those of the operator's names that the module declares too, in lower case; not declared: all of them. */
function common(allowed: readonly string[], declared: readonly string[] | undefined): string[] {
  const names = new Set(allowed.map((name) => name.toLowerCase()));
  return [...names].filter((name) => declared === undefined || declared.includes(name));
}

function listHeader(name: string, values: readonly string[]): HeaderList {
  return values.length === 0 ? [] : [[name, values.join(', ')]];
}
