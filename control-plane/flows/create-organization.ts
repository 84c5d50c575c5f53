// CreateOrganization: creates an organization with its first owner.
import type { Result } from '@svc/host';
import type { Actor } from '../model/actor.ts';
import { organization } from '../model/organization.ts';
import type { Person } from '../model/organization-state.ts';
import { person } from '../model/person.ts';
import type { Call } from './call.ts';

/** Refused with CONFLICT if the id was ever used. */
export async function createOrganization(
  call: Call,
  id: string,
  { name, owner }: { readonly name: string; readonly owner: Person },
  by: Actor,
): Promise<Result<null>> {
  const pointed = await call(person, owner.subject).point({ to: id });
  if (!pointed.isOk) return pointed;
  return call(organization, id).create({ name, owner, by, ...pointed.value });
}
