// TenantAuthorization: the checks before the handler of each route, in the order in which every request is judged: token (401, 503), rate
// (429), membership of the tenant in the path (404), role (403).
//
// Invariant: the answer to a caller who is no member of a tenant is the same whether there is such a tenant or not, and nothing is read for it.
import {
  CallerRoutes,
  UNLIMITED,
  type KnownCaller,
  type RequestLimits,
  type Verifier,
} from '@svc/api/caller-routes';
import type { WebhookCaller } from '@svc/client';
import { refuse, type CheckedRoutes, type Refused } from '@svc/host';
import type { Caller } from './webhook-caller.ts';

/** A request whose caller may use its route. */
export type GivenCaller = KnownCaller<Caller>;

export interface TenantAuthorizationOptions {
  readonly verifier: Verifier<Caller>;
  /** Limits of administrators of tenants. The platform has none: its reports are bounded by the budgets of tenants. */
  readonly limits: RequestLimits;
}

/** `write`: a route whose changes the journal of the tenants keeps for good. */
export type RouteKind = 'read' | 'write';

const TOKEN_ADVICE = 'get one from the identity provider of the installation';
const NO_SUCH_TENANT = 'there is no such tenant, or you are not a member of it';
const NOT_ADMIN = 'only administrators of the tenant may do this: ask one of them';
const NOT_PLATFORM = 'only the platform may do this';

export class TenantAuthorization {
  readonly #admin: Readonly<Record<RouteKind, CheckedRoutes<GivenCaller>>>;
  readonly #platform: CheckedRoutes<GivenCaller>;

  constructor({ verifier, limits }: TenantAuthorizationOptions) {
    const shared = { verifier, tokenAdvice: TOKEN_ADVICE };
    const { reads, writes } = new CallerRoutes({ ...shared, limits });
    this.#admin = { read: allowed(reads, adminProblem), write: allowed(writes, adminProblem) };
    const { reads: unlimited } = new CallerRoutes({ ...shared, limits: UNLIMITED });
    this.#platform = allowed(unlimited, ({ isPlatform }) =>
      isPlatform ? undefined : NOT_PLATFORM,
    );
  }

  /** Makes routes for callers of a kind. Their paths have the parameter `tenantId`. */
  of(who: WebhookCaller, kind: RouteKind): CheckedRoutes<GivenCaller> {
    return who === 'platform' ? this.#platform : this.#admin[kind];
  }
}

function adminProblem({ tenants, isTenantAdmin }: Caller, tenant: string): string | undefined {
  return tenants.has(tenant) && isTenantAdmin ? undefined : NOT_ADMIN;
}

/** `problem`: why the caller may not use the route, which only members of the tenant learn. */
function allowed(
  known: CheckedRoutes<GivenCaller>,
  problem: (caller: Caller, tenant: string) => string | undefined,
): CheckedRoutes<GivenCaller> {
  return known.before(({ parameter }, { given }): GivenCaller | Refused => {
    const { caller } = given;
    const tenant = parameter('tenantId');
    const refused = problem(caller, tenant);
    if (refused === undefined) return given;
    return caller.tenants.has(tenant)
      ? refuse(refused, 'FORBIDDEN')
      : refuse(NO_SUCH_TENANT, 'NOT_FOUND');
  });
}
