// ChangeMembers: inviting an address, claiming the invitations of one, and adding a member directly. A pointer to the
// organization is set before the organization decides (model/pointers.ts).
import { Ok, type Result } from '@svc/host';
import type { Actor } from '../model/actor.ts';
import { email } from '../model/email.ts';
import { organization } from '../model/organization.ts';
import type { Person, Role } from '../model/organization-state.ts';
import { person } from '../model/person.ts';
import type { PointedUntil } from '../model/pointers.ts';
import { inTime, type Call } from './call.ts';

interface Invited {
  /** The normalised address. */
  readonly key: string;
  /** The address as the inviter wrote it. */
  readonly email: string;
  readonly role: Role;
}

/** Points a person to an organization. Pointers that are wrong give way to it, if there are too many. */
export async function pointTo(
  call: Call,
  subject: string,
  organizationId: string,
): Promise<Result<PointedUntil>> {
  const first = await call(person, subject).point({ to: organizationId });
  if (first.isOk || first.code !== 'CONFLICT') return first;
  await membershipsOf(call, subject);
  return call(person, subject).point({ to: organizationId });
}

/** Refused with CONFLICT if a member has the address. */
export function invite(
  call: Call,
  organizationId: string,
  invited: Invited,
  by: Actor,
): Promise<Result<null>> {
  return inTime(async () => {
    const pointed = await call(email, invited.key).point({ to: organizationId });
    if (!pointed.isOk) return pointed;
    return call(organization, organizationId).invite({ ...invited, by, ...pointed.value });
  });
}

/**
 * Makes the person a member of each organization that has invited the address, which the provider has verified. It is done
 * before any request of the person, with calls that have no idempotency keys: a request that is repeated finds other invitations.
 */
export async function claimInvitations(call: Call, claimant: Person): Promise<void> {
  const { emailKey: key } = claimant;
  const pointers = await call(email, key).organizations();
  if (!pointers.isOk) return;
  for (const { to, version } of pointers.value) {
    const invited = await call(organization, to).isInvited({ key });
    const isClaimed = invited.isOk && (!invited.value || (await join(call, to, claimant)));
    if (isClaimed) await call(email, key).unpoint({ to, version });
  }
}

/** Returns whether the invitation is claimed, by this person or another. */
async function join(call: Call, organizationId: string, claimant: Person): Promise<boolean> {
  const { emailKey: key, subject } = claimant;
  const pointed = await pointTo(call, subject, organizationId);
  if (!pointed.isOk) return false;
  const joining = { key, person: claimant, ...pointed.value };
  const joined = await call(organization, organizationId).join(joining);
  return joined.isOk;
}

/** Adds the person, or sets the role of the member. */
export function repairMember(
  call: Call,
  organizationId: string,
  repaired: { readonly person: Person; readonly role: Role },
  by: Actor,
): Promise<Result<null>> {
  return inTime(async () => {
    const pointed = await pointTo(call, repaired.person.subject, organizationId);
    if (!pointed.isOk) return pointed;
    return call(organization, organizationId).repair({ ...repaired, by, ...pointed.value });
  });
}

/** An organization of a person, with the role that the person has there. */
export interface Membership {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  /** Number of projects. */
  readonly projects: number;
  readonly disabled: boolean;
}

/** Returns the organizations of a subject, ordered by id. Each was asked; wrong pointers are removed. */
export async function membershipsOf(call: Call, subject: string): Promise<Result<Membership[]>> {
  const pointers = await call(person, subject).organizations();
  if (!pointers.isOk) return pointers;
  const memberships: Membership[] = [];
  for (const pointer of pointers.value) {
    const summary = await call(organization, pointer.to).summary({ subject });
    const role = summary.isOk ? summary.value.role : undefined;
    if (summary.isOk && role !== undefined)
      memberships.push({ id: pointer.to, ...summary.value, role });
    else await call(person, subject).unpoint(pointer);
  }
  return new Ok(memberships);
}
