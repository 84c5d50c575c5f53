// Readmission: judges a request again after it has waited, as the gates did before: in the meantime the caller may have been
// removed or demoted, or the organization disabled.
import { ROUTES, type Route, type RouteName } from '@svc/client';
import { refuse, type Refused } from '@svc/host';
import type { Call } from '../flows/call.ts';
import type { Readmission } from '../flows/claim-settlement.ts';
import { NO_SUCH_ORGANIZATION, NO_SUCH_PROJECT } from '../model/refusals.ts';
import { disabledRefusal, roleRefusal, type Admitted } from './gates.ts';
import { membershipIn } from './membership.ts';

/** For routes that change something, and that the gates have admitted. */
export function readmissionTo(
  name: RouteName,
  { caller, membership: { organizationId } }: Admitted,
  call: Call,
): Readmission {
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
