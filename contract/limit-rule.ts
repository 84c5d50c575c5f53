// LimitRules: which limits of requests a route has, in words, and whether other limits let fewer requests through. Both programs that
// show a module and those that compare two of them need it.
import { bearerOf } from './bearer-rule.ts';
import type { EndpointDescriptor, LimitRule, RouteDescriptor } from './module-descriptor-schema.ts';
import { routeTemplate } from './route-template.ts';

/** Milliseconds of each unit in which a limit counts. */
export const LIMIT_UNITS_MS: Readonly<Record<LimitRule['per'], number>> = {
  second: 1_000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
};

/** Returns the limits of a route: those of its endpoint, and then its own. */
export function limitsOf(
  endpoint: Pick<EndpointDescriptor, 'limits'>,
  route: Pick<RouteDescriptor, 'limits'>,
): readonly LimitRule[] {
  return [...(endpoint.limits ?? []), ...(route.limits ?? [])];
}

/** Describes a limit: `60/minute by subject`. */
export function limitText({ count, per, by }: LimitRule): string {
  return `${count}/${per} by ${by}`;
}

/** Describes all limits of a route; undefined if it has none. */
export function limitsText(limits: readonly LimitRule[]): string | undefined {
  return limits.length === 0 ? undefined : limits.map((limit) => limitText(limit)).join(' and ');
}

/**
 * Returns whether a caller whom the limits before let through may be refused by those of now. A limit is as strict as another if it
 * allows no more at once, and no more on average.
 */
export function allowsLess(now: readonly LimitRule[], before: readonly LimitRule[]): boolean {
  return now.some((limit) => !before.some((old) => isAsStrict(old, limit)));
}

function isAsStrict(one: LimitRule, other: LimitRule): boolean {
  return one.by === other.by && one.count <= other.count && rateOf(one) <= rateOf(other);
}

function rateOf({ count, per }: LimitRule): number {
  return count / LIMIT_UNITS_MS[per];
}

/** Returns what is wrong with the limits of an endpoint and its routes. */
export function limitProblems(endpoint: EndpointDescriptor): string[] {
  const { name, prefix, limits, routes } = endpoint;
  const problems = repeated(limits).map((text) => `endpoint '${name}': the limit ${text} is twice`);
  for (const route of routes) {
    const label = `route ${route.method} ${routeTemplate(prefix, route.path)}`;
    problems.push(...repeated(route.limits).map((text) => `${label}: the limit ${text} is twice`));
    const bySubject = limitsOf(endpoint, route).find(({ by }) => by === 'subject');
    if (bySubject !== undefined && bearerOf(endpoint, route) === undefined)
      problems.push(
        `${label}: the limit ${limitText(bySubject)} needs a bearer rule, which says who calls`,
      );
  }
  return problems;
}

function repeated(limits: readonly LimitRule[] = []): readonly string[] {
  const seen = new Set<string>();
  return limits
    .map((limit) => limitText(limit))
    .filter((text) => seen.size === seen.add(text).size);
}
