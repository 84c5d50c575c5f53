// RouteTable owns the routes of a module as a tree of path segments, and finds the route of a request in it.
// Templates come from the module: they are compared and hashed as strings and never become code or a regular
// expression.
//
// Invariants:
// - A literal segment is tried before a parameter at the same position. If the literal leads to no route of the method,
//   the parameter is tried: a method never hides the routes of another one.
// - A parameter takes exactly one segment, but not an empty one, `.` or `..`.
// - No two routes have the same method and shape.
// - A search visits each node of the tree at most once, and at most SEGMENTS_MAX levels.
import {
  type AccessRule,
  bearerOf,
  type BearerRule,
  type CorsDescriptor,
  declaredCors,
  type ModuleDescriptor,
  parseRouteTemplate,
  type RouteDescriptor,
  routeTemplate,
  SEGMENTS_MAX,
  type TemplateSegment,
} from '@svc/contract';
import { type DeclaredLimits, declaredLimits, type RouteLimit } from '@svc/model/declared-limits';
import { NameTable } from '@svc/model/name-table';
import { SvcError } from '@svc/kit/svc-error';

export interface Route {
  /** Index in the descriptor, counted over all endpoints in order. */
  readonly index: number;
  readonly method: RouteDescriptor['method'];
  /** Method and template, for logs and messages. */
  readonly label: string;
  readonly access: AccessRule;
  /** Undefined: callers need no token. */
  readonly bearer: BearerRule | undefined;
  /** Limits of its requests; undefined: it has none. */
  readonly limits: readonly RouteLimit[] | undefined;
  /** The module's declaration of CORS; undefined if it has none, or not every caller is admitted. */
  readonly cors: CorsDescriptor | undefined;
  /** Undefined: the route takes no body. */
  readonly bodyKind: BodyKind | undefined;
  /** Value of the header `www-authenticate` of a 401 that has none; undefined if the route declares no scheme for it. */
  readonly challenge: string | undefined;
  /** True: the handler also receives requests without a body, with a body of the kind `none`. */
  readonly isBodyOptional: boolean;
  /** Indexes of the path's segments that are parameters, in the order of the template. */
  readonly parameterPositions: readonly number[];
}

export type BodyKind = NonNullable<RouteDescriptor['body']>['kind'];

export type RouteSearch =
  | { readonly kind: 'found'; readonly route: Route; readonly parameters: readonly string[] }
  /** The path exists with other methods. `allow`: value of the `Allow` header. */
  | { readonly kind: 'other-methods'; readonly allow: string }
  | { readonly kind: 'none' };

interface Node {
  readonly literals: NameTable<Node>;
  parameter: Node | undefined;
  readonly routes: Map<string, Route>;
}

/** Order of the methods in the header `Allow`. */
const METHODS_IN_ORDER = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
const NONE: RouteSearch = { kind: 'none' };

export class RouteTable {
  /** Routes in the order of their indices. */
  readonly routes: readonly Route[];
  /** Limits of all routes. */
  readonly limits: DeclaredLimits;
  readonly #root: Node = newNode();

  /** Throws SVC_MODULE_BAD_DESCRIPTOR if a template is invalid or two routes are the same. */
  constructor(descriptor: ModuleDescriptor) {
    this.limits = declaredLimits(descriptor);
    const routes: Route[] = [];
    for (const endpoint of descriptor.endpoints)
      for (const route of endpoint.routes) {
        const template = routeTemplate(endpoint.prefix, route.path);
        const rules = {
          access: route.access ?? endpoint.access,
          bearer: bearerOf(endpoint, route),
          limits: this.limits.ofRoutes[routes.length],
          cors: declaredCors(endpoint, route),
        };
        routes.push(this.#add(route, template, rules, routes.length));
      }
    this.routes = routes;
  }

  /** Finds a route; `HEAD` finds that of `GET`. `segments`: decoded segments of the path. */
  find(method: string, segments: readonly string[]): RouteSearch {
    if (segments.length > SEGMENTS_MAX) return NONE;
    const route = search(this.#root, segments, 0, method === 'HEAD' ? 'GET' : method);
    if (route !== undefined)
      return {
        kind: 'found',
        route,
        parameters: route.parameterPositions.map((position) => segments[position]!),
      };
    const methods = new Set<string>();
    collectMethods(this.#root, segments, 0, methods);
    if (methods.size === 0) return NONE;
    if (methods.has('GET')) methods.add('HEAD');
    methods.add('OPTIONS');
    const allow = METHODS_IN_ORDER.filter((name) => methods.has(name)).join(', ');
    return { kind: 'other-methods', allow };
  }

  #add(
    descriptor: RouteDescriptor,
    template: string,
    rules: Pick<Route, 'access' | 'bearer' | 'limits' | 'cors'>,
    index: number,
  ): Route {
    const label = `${descriptor.method} ${template}`;
    const segments = segmentsOf(template, label);
    const parameterPositions: number[] = [];
    let node = this.#root;
    for (const [position, segment] of segments.entries())
      if (segment.kind === 'literal') {
        let next = node.literals.get(segment.text);
        if (next === undefined) node.literals.set(segment.text, (next = newNode()));
        node = next;
      } else {
        parameterPositions.push(position);
        node = node.parameter ??= newNode();
      }
    const other = node.routes.get(descriptor.method);
    if (other !== undefined)
      throw badDescriptor(
        `The routes '${other.label}' and '${label}' match the same requests.`,
        'Change one of the two paths or methods.',
      );
    const { method, body, security } = descriptor;
    const route = {
      index,
      method,
      label,
      ...rules,
      bodyKind: body?.kind,
      challenge: challengeOf(security),
      isBodyOptional: body?.optional === true,
      parameterPositions,
    };
    node.routes.set(method, route);
    return route;
  }
}

/** Returns the challenge of a scheme; undefined for a key in a header, which has none. */
function challengeOf(security: RouteDescriptor['security']): string | undefined {
  if (security === undefined || security.scheme === 'header') return undefined;
  const scheme = security.scheme === 'bearer' ? 'Bearer' : 'Basic';
  return `${scheme} realm="${security.realm ?? 'svc'}"`;
}

function search(
  node: Node,
  segments: readonly string[],
  at: number,
  method: string,
): Route | undefined {
  if (at === segments.length) return node.routes.get(method);
  const segment = segments[at]!;
  const literal = node.literals.get(segment);
  const route = literal === undefined ? undefined : search(literal, segments, at + 1, method);
  if (route !== undefined || node.parameter === undefined || !canBind(segment)) return route;
  return search(node.parameter, segments, at + 1, method);
}

function collectMethods(
  node: Node,
  segments: readonly string[],
  at: number,
  methods: Set<string>,
): void {
  if (at === segments.length) {
    for (const method of node.routes.keys()) methods.add(method);
    return;
  }
  const segment = segments[at]!;
  const literal = node.literals.get(segment);
  if (literal !== undefined) collectMethods(literal, segments, at + 1, methods);
  if (node.parameter !== undefined && canBind(segment))
    collectMethods(node.parameter, segments, at + 1, methods);
}

/**
 * Returns whether a parameter may take the segment. Clients and proxies resolve dot segments, so a segment that still
 * arrives as one was sent to make two programs read the path differently.
 */
function canBind(segment: string): boolean {
  return segment !== '' && segment !== '.' && segment !== '..';
}

function segmentsOf(template: string, label: string): readonly TemplateSegment[] {
  const parsed = parseRouteTemplate(template);
  if (parsed.ok) return parsed.segments;
  throw badDescriptor(`The path of the route '${label}' ${parsed.problem}.`, parsed.remedy);
}

function badDescriptor(what: string, todo: string): SvcError {
  return new SvcError('SVC_MODULE_BAD_DESCRIPTOR', `${what} ${todo}`);
}

function newNode(): Node {
  return { literals: new NameTable(), parameter: undefined, routes: new Map() };
}
