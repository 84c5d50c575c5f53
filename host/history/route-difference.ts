// RouteDifference compares the routes of two modules and finds the changes that callers would notice: a route that is
// gone, accepts less than before, admits fewer callers, or answers differently. It runs no code of either module.
// Additional routes, and parameters and fields that are no longer read, are not reported.
import {
  type AccessRule,
  allowsLess,
  asksForMore,
  bearerOf,
  bearerText,
  declaredCors,
  limitsOf,
  limitsText,
  type EndpointDescriptor,
  type ModuleDescriptor,
  parseRouteTemplate,
  type RouteDescriptor,
  routeTemplate,
  templateShape,
  type TypeSchema,
} from '@svc/contract';
import { narrowing, type TypeIn } from './narrowing.ts';
import type { Finding, FindingName } from './upgrade-finding.ts';

interface DescribedRoute {
  readonly endpoint: EndpointDescriptor;
  readonly route: RouteDescriptor;
  readonly template: string;
  /** The template without the names of its parameters, which callers do not see. */
  readonly shape: string;
}

type Types = ModuleDescriptor['types'];
type Body = NonNullable<RouteDescriptor['body']>;
type Report = (name: FindingName, what: string) => void;

export function routeDifferences(
  before: ModuleDescriptor,
  now: ModuleDescriptor,
): readonly Finding[] {
  const found: Finding[] = [];
  const present = routesOf(now);
  for (const old of routesOf(before)) {
    const label = `${old.route.method} ${old.template}`;
    const report: Report = (name, what) => {
      const message = `route ${label} ${what}`;
      const component = old.endpoint.name;
      found.push({ name, component, subject: label, message, entities: 0, examples: [] });
    };
    const atPath = present.filter(({ shape }) => shape === old.shape);
    const same = atPath.find(({ route }) => route.method === old.route.method);
    if (same === undefined) {
      report('route-removed', `is gone${likelySuccessor(old, atPath, present)}`);
      continue;
    }
    const taken = inputProblem(old.route, before.types, same.route, now.types);
    if (taken !== undefined) report('route-input-narrowed', `takes less than it did: ${taken}`);
    const admitted = accessProblem(old, same);
    if (admitted !== undefined) report('route-access-narrowed', admitted);
    const answered = answerProblem(old.route, same.route);
    if (answered !== undefined) report('route-answer-changed', answered);
  }
  return found;
}

function routesOf({ endpoints }: ModuleDescriptor): readonly DescribedRoute[] {
  return endpoints.flatMap((endpoint) =>
    endpoint.routes.map((route) => {
      const template = routeTemplate(endpoint.prefix, route.path);
      const parsed = parseRouteTemplate(template);
      const shape = parsed.ok ? templateShape(parsed.segments) : template;
      return { endpoint, route, template, shape };
    }),
  );
}

/**
 * Returns the end of the message about a missing route: the route that its handler has now, preferably at the same
 * path; otherwise the methods that the path has now; otherwise an empty text.
 */
function likelySuccessor(
  old: DescribedRoute,
  atPath: readonly DescribedRoute[],
  present: readonly DescribedRoute[],
): string {
  const isItsHandler = ({ endpoint, route }: DescribedRoute) =>
    endpoint.name === old.endpoint.name && route.handler === old.route.handler;
  const [other] = [...atPath.filter(isItsHandler), ...present.filter(isItsHandler)];
  if (other !== undefined) return `; perhaps it is ${other.route.method} ${other.template} now`;
  const methods = atPath.map(({ route }) => route.method);
  return methods.length === 0 ? '' : `; its path takes ${methods.join(', ')}`;
}

/** Describes the first input that was accepted and is refused now; undefined if there is none. */
function inputProblem(
  before: RouteDescriptor,
  oldTypes: Types,
  now: RouteDescriptor,
  types: Types,
): string | undefined {
  for (const [at, { name, schema }] of now.parameters.entries()) {
    const old = before.parameters[at]!;
    const problem = textProblem({ type: old.schema, types: oldTypes }, { type: schema, types });
    if (problem !== undefined) return `path parameter '${name}': ${problem}`;
  }
  for (const { name, schema, required } of now.query ?? []) {
    const old = before.query?.find((one) => one.name === name);
    if (required && old?.required !== true)
      return old === undefined
        ? `query parameter '${name}' is new and may not be missing`
        : `query parameter '${name}' may not be missing any more`;
    if (old === undefined) continue;
    const present = given(schema);
    const former = given(old.schema);
    // A list parameter that occurs once in a request is read as a list of one item.
    const type = 'items' in present && !('items' in former) ? present.items : present;
    const problem = textProblem({ type: former, types: oldTypes }, { type, types });
    if (problem !== undefined) return `query parameter '${name}': ${problem}`;
  }
  return bodyProblem(before.body, oldTypes, now.body, types);
}

/**
 * Compares types of URL parameters. Every value in a URL is text, so a parameter of any text accepts the values of
 * all other types.
 */
function textProblem(before: TypeIn, now: TypeIn): string | undefined {
  const item = 'items' in before.type && 'items' in now.type ? now.type.items : now.type;
  const isAnything = isAnyText(item) && !('items' in before.type && !('items' in now.type));
  return isAnything ? undefined : narrowing(before, now)?.problem;
}

function isAnyText(type: TypeSchema): boolean {
  return 'type' in type && type.type === 'string' && Object.keys(type).length === 1;
}

/** Returns the type without null, which a query string cannot express. */
function given(schema: TypeSchema): TypeSchema {
  return 'anyOf' in schema ? schema.anyOf[0] : schema;
}

function bodyProblem(
  before: Body | undefined,
  oldTypes: Types,
  now: Body | undefined,
  types: Types,
): string | undefined {
  if (now === undefined || now.kind === 'bytes') return undefined;
  if (before !== undefined && before.kind !== now.kind)
    return `the body was ${before.kind} and is ${now.kind}`;
  if (mayBeMissing(before) && !mayBeMissing(now))
    return before === undefined ? 'it needs a body' : 'the body may not be missing any more';
  if (before?.schema === undefined || now.schema === undefined) return undefined;
  const narrowed = narrowing({ type: before.schema, types: oldTypes }, { type: now.schema, types });
  if (narrowed === undefined) return undefined;
  return `${narrowed.path === '' ? 'the body' : narrowed.path}: ${narrowed.problem}`;
}

/** An omitted body of the kinds text and bytes is read as empty. */
function mayBeMissing(body: Body | undefined): boolean {
  return body === undefined || body.kind !== 'json' || body.optional === true;
}

function accessProblem(before: DescribedRoute, now: DescribedRoute): string | undefined {
  const old = before.route.access ?? before.endpoint.access;
  const present = now.route.access ?? now.endpoint.access;
  if (!admitsAll(old, present))
    return `admits fewer callers: it was ${accessText(old)}, and is ${accessText(present)}`;
  const token = bearerOf(now.endpoint, now.route);
  const oldToken = bearerOf(before.endpoint, before.route);
  if (token !== undefined && asksForMore(token, oldToken))
    return `admits fewer callers: it asked for ${oldToken === undefined ? 'no token' : `a ${bearerText(oldToken)}`}, and asks for a ${bearerText(token)}`;
  const limits = limitsOf(now.endpoint, now.route);
  const oldLimits = limitsOf(before.endpoint, before.route);
  if (allowsLess(limits, oldLimits))
    return `lets fewer requests through: it had ${limitsText(oldLimits) ?? 'no limit'}, and has ${limitsText(limits)}`;
  const hadCors = declaredCors(before.endpoint, before.route) !== undefined;
  const hasCors = declaredCors(now.endpoint, now.route) !== undefined;
  return hadCors && !hasCors ? 'may not be called by pages of other origins any more' : undefined;
}

/** Returns whether every caller that the first rule admits is admitted by the second. */
function admitsAll(before: AccessRule, now: AccessRule): boolean {
  // Callers on the same machine are always admitted.
  if (before.allow === 'local' || before.allow === 'nobody' || now.allow === 'internet')
    return true;
  if (before.allow === 'internet' || now.allow !== 'services') return false;
  // A rule without a list admits the services of the project; a name with a dot is a service of another project.
  if (now.services === undefined)
    return before.services?.every((name) => !name.includes('.')) ?? true;
  return before.services?.every((name) => now.services!.includes(name)) ?? false;
}

function accessText(rule: AccessRule): string {
  const services = rule.allow === 'services' ? rule.services : undefined;
  return services === undefined ? `'${rule.allow}'` : `'services' (${services.join(', ')})`;
}

function answerProblem(before: RouteDescriptor, now: RouteDescriptor): string | undefined {
  const old = before.reply?.kind ?? 'nothing';
  const present = now.reply?.kind ?? 'nothing';
  if (old !== present) return `answers otherwise: it answered ${old}, and answers ${present}`;
  const statuses = successes(now);
  const gone = successes(before).filter((status) => !statuses.includes(status));
  if (gone.length === 0) return undefined;
  return `answers otherwise: ${gone.join(', ')} when it is done no more, but ${statuses.join(', ') || 'no such status'}`;
}

function successes({ reply, answers }: RouteDescriptor): readonly number[] {
  const declared = answers ?? [reply === undefined ? 204 : 200];
  return declared.filter((status) => status < 300);
}
