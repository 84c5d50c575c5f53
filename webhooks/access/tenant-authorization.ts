// TenantAuthorization: the checks before the handler of each route, in the order in which every request is judged: token (401, 503), rate
// (429), membership of the tenant in the path (404), role (403).
//
// Invariant: the answer to a caller who is no member of a tenant is the same whether there is such a tenant or not, and nothing is read for it.
import { CallerRoutes, type KnownCaller, type Verifier } from '@svc/api/caller-routes';
import type { WebhookCaller } from '@svc/client';
import { refuse, type CheckedRoutes, type Refused } from '@svc/host';
import type { Caller } from './webhook-caller.ts';

/** A request whose caller may use its route. */
export type GivenCaller = KnownCaller<Caller>;

export interface TenantAuthorizationOptions {
  readonly verifier: Verifier<Caller>;
  /** Limits of the requests of one caller in a minute; 0: none. Those of the platform are bounded by the budgets of its tenants. */
  readonly limits: { readonly requestsPerMinuteMax: number };
}

const TOKEN_ADVICE = 'get one from the identity provider of the installation';
const NO_SUCH_TENANT = 'there is no such tenant, or you are not a member of it';
const NOT_ADMIN = 'only administrators of the tenant may do this: ask one of them';
const NOT_PLATFORM = 'only the platform may do this';

export class TenantAuthorization {
  readonly #routes: Readonly<Record<WebhookCaller, CheckedRoutes<GivenCaller>>>;

  constructor({ verifier, limits: { requestsPerMinuteMax } }: TenantAuthorizationOptions) {
    const knownWithin = (perMinute: number): CheckedRoutes<GivenCaller> =>
      new CallerRoutes({
        verifier,
        limits: { requestsPerMinuteMax: perMinute, writesPerMinuteMax: 0 },
        tokenAdvice: TOKEN_ADVICE,
      }).reads;
    this.#routes = {
      'tenant-admin': allowed(
        knownWithin(requestsPerMinuteMax),
        ({ isTenantAdmin, tenants }, tenant) =>
          tenants.has(tenant) && isTenantAdmin ? undefined : NOT_ADMIN,
      ),
      platform: allowed(knownWithin(0), ({ isPlatform }) =>
        isPlatform ? undefined : NOT_PLATFORM,
      ),
    };
  }

  /** Makes routes for callers of a kind. Their paths have the parameter `tenantId`. */
  of(who: WebhookCaller): CheckedRoutes<GivenCaller> {
    return this.#routes[who];
  }
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
