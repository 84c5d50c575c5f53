// CreateOrganization: creates an organization with its first owner.
import type { Result } from '@svc/host';
import type { Actor } from '../model/actor.ts';
import { organization } from '../model/organization.ts';
import type { Person } from '../model/organization-state.ts';
import { inTime, type Call } from './call.ts';
import { pointTo, withPointer } from './change-members.ts';

/** Refused with CONFLICT if the id was ever used; nothing is stored then. */
export function createOrganization(
  call: Call,
  id: string,
  { name, owner }: { readonly name: string; readonly owner: Person },
  by: Actor,
): Promise<Result<null>> {
  const reason = by.administrative ? 'appointed' : 'created';
  return inTime(() =>
    withPointer(
      (pointed) => call(organization, id).create({ name, owner, by, ...pointed }),
      () => pointTo(call, owner.subject, { to: id, reason }),
    ),
  );
}
