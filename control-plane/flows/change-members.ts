// ChangeMembers: inviting an address, claiming the invitations of one, and adding a member directly. A pointer to the
// organization is set before the organization decides (model/pointers.ts).
import { setImmediate } from 'node:timers/promises';
import { Ok, type Result } from '@svc/host';
import type { Actor } from '../model/actor.ts';
import { email } from '../model/email.ts';
import { organization } from '../model/organization.ts';
import type { Person, Role } from '../model/organization-state.ts';
import { SETTLE_AFTER_MS } from '../model/claims.ts';
import { person, type PointingReason } from '../model/person.ts';
import { pointedUntil, type PointedUntil, type Pointer } from '../model/pointers.ts';
import { leavingFor, needsPointer } from '../model/refusals.ts';
import { inTime, type Call } from './call.ts';

interface Invited {
  /** The normalised address. */
  readonly key: string;
  /** The address as the inviter wrote it. */
  readonly email: string;
  readonly role: Role;
}

/** Maximum number of invitations that are claimed with one request. */
export const CLAIMED_AT_ONCE_MAX = 20;

/**
 * Points a person to an organization. Pointers of the same reason that are wrong leave for it, if they are too many. Those of
 * invitations are left to `membershipsOf`: a claim would ask all organizations that others have made the person a member of.
 */
export async function pointTo(
  call: Call,
  subject: string,
  pointing: { readonly to: string; readonly reason: PointingReason },
): Promise<Result<PointedUntil>> {
  const first = await call(person, subject).point(pointing);
  if (first.isOk || first.code !== 'CONFLICT' || pointing.reason === 'invited') return first;
  const pointers = await call(person, subject).organizationsOf({ reason: pointing.reason });
  if (!pointers.isOk) return pointers;
  for (const pointer of pointers.value) await membershipOf(call, subject, pointer);
  return call(person, subject).point(pointing);
}

/**
 * The same for an address. Asks the few organizations to which the inviter has invited it, if they are too many, and one that has to
 * end its invitation, if the address is full. Which one that is follows from the refusal: it stays the same if the request is repeated.
 */
async function pointAddress(
  call: Call,
  key: string,
  pointing: { readonly to: string; readonly inviter: string },
): Promise<Result<PointedUntil>> {
  const first = await call(email, key).point(pointing);
  if (first.isOk) return first;
  const leaving = leavingFor(first);
  if (leaving !== undefined) {
    const ended = { key, ...pointedUntil(leaving.version) };
    await call(organization, leaving.to).endInvitation(ended);
    return call(email, key).point({ ...pointing, instead: leaving });
  }
  if (first.code !== 'CONFLICT') return first;
  const pointers = await call(email, key).pointersOf({ inviter: pointing.inviter });
  if (!pointers.isOk) return pointers;
  for (const pointer of pointers.value) {
    const invited = await call(organization, pointer.to).isInvited({ key });
    if (invited.isOk && !invited.value) await call(email, key).unpoint(pointer);
  }
  return call(email, key).point(pointing);
}

/**
 * Sends a command without a pointer, and with one only if it needs it: so that a command that is refused, or changes nothing, stores
 * none. `point`: sets the pointer.
 */
export async function withPointer(
  command: (pointed: Partial<PointedUntil>) => Promise<Result<null>>,
  point: () => Promise<Result<PointedUntil>>,
): Promise<Result<null>> {
  const without = await command({});
  if (without.isOk || !needsPointer(without)) return without;
  const pointed = await point();
  return pointed.isOk ? command(pointed.value) : pointed;
}

/** Refused with CONFLICT if a member has the address. */
export function invite(
  call: Call,
  organizationId: string,
  invited: Invited,
  by: Actor,
): Promise<Result<null>> {
  return inTime(() =>
    withPointer(
      (pointed) => call(organization, organizationId).invite({ ...invited, by, ...pointed }),
      () => pointAddress(call, invited.key, { to: organizationId, inviter: by.subject }),
    ),
  );
}

/**
 * Makes the person a member of organizations that have invited the address, which the provider has verified: of at most
 * CLAIMED_AT_ONCE_MAX, in the order of the invitations. It is done before any request of the person, with calls that have no
 * idempotency keys: a request that is repeated finds other invitations.
 *
 * `after`: version of a pointer, up to which all need not be looked at. Returns that for the next request; Infinity: the person
 * can claim none, because it belongs to too many organizations.
 */
export async function claimInvitations(
  call: Call,
  claimant: Person,
  after = 0,
  nowMs = Date.now(),
): Promise<number> {
  const { emailKey: key } = claimant;
  const pointers = await call(email, key).organizationsAfter({ after, max: CLAIMED_AT_ONCE_MAX });
  if (!pointers.isOk) return after;
  let done = after;
  for (const { to, version } of pointers.value) {
    const outcome = await claimIn(call, to, claimant);
    if (outcome === 'full') return Infinity;
    // Before that an organization may still invite because of the pointer, which has to be looked at again then.
    if (nowMs >= version + SETTLE_AFTER_MS) {
      if (outcome === 'over') await call(email, key).unpoint({ to, version });
      done = version;
    }
    await setImmediate();
  }
  return done;
}

/**
 * `over`: there is no invitation any more, claimed by this person or another; `full`: the person belongs to too many
 * organizations; `left`: the invitation cannot be claimed now, as the organization has too many members.
 */
type ClaimOutcome = 'over' | 'full' | 'left';

async function claimIn(call: Call, to: string, claimant: Person): Promise<ClaimOutcome> {
  const { emailKey: key, subject } = claimant;
  const invited = await call(organization, to).isInvited({ key });
  if (!invited.isOk) return 'left';
  if (!invited.value) return 'over';
  const pointed = await pointTo(call, subject, { to, reason: 'invited' });
  if (!pointed.isOk) return pointed.code === 'CONFLICT' ? 'full' : 'left';
  const joined = await call(organization, to).join({ key, person: claimant, ...pointed.value });
  return joined.isOk ? 'over' : 'left';
}

/** Adds the person, or sets the role of the member. */
export function repairMember(
  call: Call,
  organizationId: string,
  repaired: { readonly person: Person; readonly role: Role },
  by: Actor,
): Promise<Result<null>> {
  const pointing = { to: organizationId, reason: 'appointed' as const };
  return inTime(() =>
    withPointer(
      (pointed) => call(organization, organizationId).repair({ ...repaired, by, ...pointed }),
      () => pointTo(call, repaired.person.subject, pointing),
    ),
  );
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
    const membership = await membershipOf(call, subject, pointer);
    if (membership !== undefined) memberships.push(membership);
  }
  return new Ok(memberships);
}

/** Returns undefined if the pointer is wrong, which is then removed. */
async function membershipOf(
  call: Call,
  subject: string,
  pointer: Pointer,
): Promise<Membership | undefined> {
  const summary = await call(organization, pointer.to).summary({ subject });
  const role = summary.isOk ? summary.value.role : undefined;
  if (!summary.isOk || role === undefined) await call(person, subject).unpoint(pointer);
  // A person may belong to a thousand: other requests are served in between.
  await setImmediate();
  return summary.isOk && role !== undefined
    ? { id: pointer.to, ...summary.value, role }
    : undefined;
}
