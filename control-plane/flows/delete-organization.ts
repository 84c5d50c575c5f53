// DeleteOrganization: deletes an organization without projects. Its id stays used.
import type { Result } from '@svc/host';
import type { Actor } from '../model/actor.ts';
import { organization } from '../model/organization.ts';
import type { Call } from './call.ts';
import { decided, projectsOf, type Reauthorization } from './claim-settlement.ts';

/** Refused with CONFLICT while the organization has projects. `reauthorization`: see `decided`. */
export function deleteOrganization(
  call: Call,
  id: string,
  by: Actor,
  reauthorization?: Reauthorization,
): Promise<Result<null>> {
  return decided(
    projectsOf(call, id),
    () => call(organization, id).delete({ by }),
    reauthorization,
  );
}
