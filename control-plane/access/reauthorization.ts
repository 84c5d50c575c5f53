// Reauthorization: judges a request again after it has waited, by the rules of its authorization before: in the meantime the caller may have been
// removed or demoted, or the organization disabled.
import { ROUTES, type Route, type RouteName } from '@svc/client';
import { refuse, type Refused } from '@svc/host';
import type { Call } from '../flows/call.ts';
import type { Reauthorization } from '../flows/claim-settlement.ts';
import { NO_SUCH_ORGANIZATION, NO_SUCH_PROJECT } from '../model/refusals.ts';
import { disabledRefusal, roleRefusal, type Authorized } from './route-authorization.ts';
import { membershipIn } from './membership.ts';

/** For routes that change something, and of requests that were authorized. */
export function reauthorizationFor(
  name: RouteName,
  { caller, membership: { organizationId } }: Authorized,
  call: Call,
): Reauthorization {
  const { path, who }: Route = ROUTES[name];
  const isOrganization = path.startsWith('/organizations/');
  return async (): Promise<Refused | undefined> => {
    const membership = await membershipIn(call, organizationId, caller);
    const isVisible =
      membership?.role !== undefined || (isOrganization && membership && caller.platformAdmin);
    if (membership === undefined || isVisible !== true)
      return refuse(isOrganization ? NO_SUCH_ORGANIZATION : NO_SUCH_PROJECT, 'NOT_FOUND');
    return roleRefusal(who, { caller, membership }) ?? disabledRefusal(membership);
  };
}
