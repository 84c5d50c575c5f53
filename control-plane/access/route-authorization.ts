// RouteAuthorization: the checks before the handler of each route, as the table of routes says who may use it. Their
// order is the order in which every request is judged: token (401, 503), rate (429), membership (404), role (403), whether the organization is disabled
// (403). What a handler judges comes after: ids and body (400), then the state (409).
//
// Creating an organization or a project is the exception: who may do it depends on the body, so their handlers decode first.
import { CallerRoutes, type CallerRoutesOptions, type KnownCaller } from '@svc/api/caller-routes';
import { ROUTES, worksWhileDisabled, type Route, type RouteName } from '@svc/client';
import { refuse, type CheckedRoutes, type Refused } from '@svc/host';
import { NO_SUCH_ORGANIZATION, NO_SUCH_PROJECT } from '../model/refusals.ts';
import { membershipIn, membershipInOrganizationOf, type Membership } from './membership.ts';
import type { Authenticated, Provisioning } from './provisioning.ts';
import type { Caller } from './token-caller.ts';

/** A request that may see the organization of its path, and do there what its route does. */
export interface Authorized extends Authenticated {
  readonly membership: Membership;
}

/** Routes whose handlers judge the membership, because their bodies name the organization. */
export type AuthorizedByBody = 'createOrganization' | 'createProject';
/** Result of the checks before the handler of a route. */
export type GivenTo<Name extends RouteName> = (typeof ROUTES)[Name]['who'] extends 'anyone'
  ? undefined
  : Name extends AuthorizedByBody
    ? Authenticated
    : (typeof ROUTES)[Name]['who'] extends 'caller'
      ? Authenticated
      : Authorized;

const TOKEN_ADVICE = 'GET /auth says how to get one';
const NOT_OWNER = 'only owners of the organization may do this: ask one of them';
const NOT_ADMINISTRATOR = 'only platform administrators may do this';
const DISABLED =
  'the organization is disabled, so nothing in it can be changed: a platform administrator has to enable it first';

export class RouteAuthorization {
  readonly #reads: AuthorizedRoutes;
  readonly #writes: AuthorizedRoutes;

  constructor(
    options: Pick<CallerRoutesOptions<Caller>, 'verifier' | 'limits'>,
    provisioning: Provisioning,
  ) {
    const { reads, writes } = new CallerRoutes({ ...options, tokenAdvice: TOKEN_ADVICE });
    this.#reads = new AuthorizedRoutes(provisioned(reads, provisioning));
    this.#writes = new AuthorizedRoutes(provisioned(writes, provisioning));
  }

  /** Makes routes for every caller with a valid token. */
  get authenticated(): CheckedRoutes<Authenticated> {
    return this.#reads.authenticated;
  }

  /** Returns what makes the route behind its checks; for a route without a token, undefined. */
  of(name: RouteName): CheckedRoutes<Authenticated | Authorized> | undefined {
    const route: Route = ROUTES[name];
    const routes = route.method === 'GET' ? this.#reads : this.#writes;
    if (route.who === 'anyone') return undefined;
    if (route.who === 'caller' || name === 'createProject') return routes.authenticated;
    const isOrganization = route.path.startsWith('/organizations/');
    const allowed = withRole(isOrganization ? routes.ofOrganization : routes.ofProject, route.who);
    return worksWhileDisabled(route)
      ? allowed
      : allowed.before((_, { given }) => disabledRefusal(given.membership) ?? given);
  }
}

/** The first checks of some routes. */
class AuthorizedRoutes {
  /** Every caller with a valid token. */
  readonly authenticated: CheckedRoutes<Authenticated>;
  /** Members of the organization of the path, and administrators. */
  readonly ofOrganization: CheckedRoutes<Authorized>;
  /** Members of the organization of the project of the path. */
  readonly ofProject: CheckedRoutes<Authorized>;

  constructor(authenticated: CheckedRoutes<Authenticated>) {
    this.authenticated = authenticated;
    this.ofOrganization = authenticated.before(async ({ parameter }, { given, call }) => {
      const { caller } = given;
      const membership = await membershipIn(call, parameter('organizationId'), caller);
      if (membership === undefined || (membership.role === undefined && !caller.platformAdmin))
        return noAccess(given, NO_SUCH_ORGANIZATION);
      return { caller, membership } satisfies Authorized;
    });
    this.ofProject = authenticated.before(async ({ parameter }, { given, call }) => {
      const { caller } = given;
      const membership = await membershipInOrganizationOf(call, parameter('projectId'), caller);
      return membership?.role === undefined
        ? noAccess(given, NO_SUCH_PROJECT)
        : ({ caller, membership } satisfies Authorized);
    });
  }
}

/** After the limits, so that a request that is too many stores nothing. */
function provisioned(
  known: CheckedRoutes<KnownCaller<Caller>>,
  provisioning: Provisioning,
): CheckedRoutes<Authenticated> {
  return known.before((_, { given, metadata }) => provisioning.provision(given, { metadata }));
}

/** Returns the refusal of a caller who is no member. Throws if the caller might be one by an invitation that was not claimed. */
export function noAccess({ claimFault }: Authenticated, message: string): Refused {
  if (claimFault !== undefined) throw claimFault;
  return refuse(message, 'NOT_FOUND');
}

function withRole(
  visible: CheckedRoutes<Authorized>,
  who: Route['who'],
): CheckedRoutes<Authorized> {
  if (who !== 'owner' && who !== 'administrator') return visible;
  return visible.before((_, { given }) => roleRefusal(who, given) ?? given);
}

/** Returns the refusal of a caller who sees the organization, and whose role does not allow the route. */
export function roleRefusal(
  who: Route['who'],
  { caller, membership }: Authorized,
): Refused | undefined {
  if (who === 'owner' && membership.role !== 'owner') return refuse(NOT_OWNER, 'FORBIDDEN');
  if (who === 'administrator' && !caller.platformAdmin)
    return refuse(NOT_ADMINISTRATOR, 'FORBIDDEN');
  return undefined;
}

/** Returns the refusal of a change in an organization that is disabled. */
export function disabledRefusal({ isDisabled }: Membership): Refused | undefined {
  return isDisabled ? refuse(DISABLED, 'FORBIDDEN') : undefined;
}
