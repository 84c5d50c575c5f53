// BearerRules: what a rule for access tokens asks of callers, in words, and whether another one asks for more. Both programs that show
// a module and those that compare two of them need it.
import type {
  BearerRequirement,
  BearerRule,
  EndpointDescriptor,
  RouteDescriptor,
} from './module-descriptor-schema.ts';

/** Returns the rule of a route: its own, or else that of its endpoint; undefined: its callers need no token. */
export function bearerOf(
  endpoint: Pick<EndpointDescriptor, 'bearer'>,
  route: Pick<RouteDescriptor, 'bearer'>,
): BearerRule | undefined {
  return route.bearer ?? endpoint.bearer;
}

/** Describes the token that a rule asks for: `token with one of the roles librarian, admin`. */
export function bearerText({ roles, scopes, forwardsToken }: BearerRule): string {
  const needs = [
    ...(roles === undefined ? [] : [requirementText(roles, 'role')]),
    ...(scopes === undefined ? [] : [requirementText(scopes, 'scope')]),
  ];
  const forwarded = forwardsToken === true ? ', which the handler sees' : '';
  return `token${needs.length === 0 ? '' : ` with ${needs.join(' and ')}`}${forwarded}`;
}

/** Describes what a requirement needs: `the role admin`, `all of the scopes books:read, books:write`. */
export function requirementText({ match, names }: BearerRequirement, noun: string): string {
  if (names.length === 1) return `the ${noun} ${names[0]}`;
  return `${match === 'any' ? 'one' : 'all'} of the ${noun}s ${names.join(', ')}`;
}

/** Returns whether the names meet the requirement. */
export function meetsRequirement(
  { match, names }: BearerRequirement,
  had: readonly string[],
): boolean {
  return match === 'any'
    ? names.some((name) => had.includes(name))
    : names.every((name) => had.includes(name));
}

/** Returns whether a token that is enough for the first rule may be too little for the second. Undefined: no token is asked for. */
export function asksForMore(now: BearerRule | undefined, before: BearerRule | undefined): boolean {
  if (now === undefined) return false;
  if (before === undefined) return true;
  return needsMore(now.roles, before.roles) || needsMore(now.scopes, before.scopes);
}

function needsMore(
  now: BearerRequirement | undefined,
  before: BearerRequirement | undefined,
): boolean {
  if (now === undefined) return false;
  if (before === undefined) return true;
  const enough = before.match === 'all' ? [before.names] : before.names.map((name) => [name]);
  return enough.some((names) => !meetsRequirement(now, names));
}
