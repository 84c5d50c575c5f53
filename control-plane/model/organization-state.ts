// The state and the events of an organization.
import { Type } from 'typebox';
import { ROLES } from '@svc/client';
import type { ReadonlyDeep, ValueOf } from '@svc/host';
import { Actor } from './actor.ts';
import { ClaimsByName, emptyRecord, removeClaim, setClaim } from './claims.ts';

export const Role = Type.Enum([...ROLES]);
export type Role = ValueOf<typeof Role>;

export const Member = Type.Object({
  role: Role,
  /** Empty if nobody has told it: an administrator may add a subject without its address. */
  email: Type.String(),
  /** The same, normalised. */
  emailKey: Type.String(),
  display: Type.String(),
  /** Milliseconds since 1970. */
  sinceMs: Type.Integer(),
  /** Display of the person who added the member. */
  addedBy: Type.String(),
});
export type Member = ValueOf<typeof Member>;

export const Invitation = Type.Object({
  /** As the inviter wrote it. */
  email: Type.String(),
  role: Role,
  invitedAtMs: Type.Integer(),
  /** Display of the inviter. */
  invitedBy: Type.String(),
  /** Until when its pointer lets the organization decide (pointers.ts). Absent: before such pointers had to leave. */
  untilMs: Type.Optional(Type.Integer()),
});

export const Organization = Type.Object({
  status: Type.Enum(['unused', 'alive', 'deleted']),
  name: Type.String(),
  /** Absent: the organization is not disabled. */
  disabledBy: Type.Optional(Actor),
  /** By subject. */
  members: Type.Record(Type.String(), Member),
  /** By normalised address (`normalizedEmail` of @svc/client). */
  invitations: Type.Record(Type.String(), Invitation),
  /** The organization invites nobody because of pointers that let it decide until then at most. Absent: 0. */
  leftUntilMs: Type.Optional(Type.Integer()),
  projects: ClaimsByName,
});
export type Organization = ValueOf<typeof Organization>;

/** A person who becomes a member, with what is known of them. */
export const Person = Type.Object({
  subject: Type.String(),
  /** Empty if it is not known. */
  email: Type.String(),
  /** The same, normalised. */
  emailKey: Type.String(),
  display: Type.String(),
});
export type Person = ValueOf<typeof Person>;

/** The actor and the time of the decision, in milliseconds since 1970. */
const byNow = { by: Actor, atMs: Type.Integer() };
const Key = Type.String();
const ProjectClaim = { project: Type.String(), claim: Type.String() };

export const OrganizationEvent = Type.Union([
  Type.Object({ type: Type.Literal('created'), name: Type.String(), owner: Person, ...byNow }),
  Type.Object({ type: Type.Literal('renamed'), name: Type.String(), by: Actor }),
  Type.Object({ type: Type.Literal('deleted'), by: Actor }),
  Type.Object({
    type: Type.Literal('invited'),
    key: Key,
    email: Type.String(),
    role: Role,
    ...byNow,
    untilMs: Type.Optional(Type.Integer()),
  }),
  Type.Object({ type: Type.Literal('invitation-withdrawn'), key: Key, by: Actor }),
  /** The pointer of the address to the organization leaves for that of another. */
  Type.Object({ type: Type.Literal('pointer-left'), key: Key, untilMs: Type.Integer() }),
  /** A verified address claimed its invitation. */
  Type.Object({ type: Type.Literal('joined'), key: Key, person: Person, atMs: Type.Integer() }),
  Type.Object({ type: Type.Literal('member-repaired'), person: Person, role: Role, ...byNow }),
  Type.Object({ type: Type.Literal('member-removed'), subject: Type.String(), by: Actor }),
  Type.Object({
    type: Type.Literal('role-changed'),
    subject: Type.String(),
    role: Role,
    by: Actor,
  }),
  Type.Object({ type: Type.Literal('disabled'), by: Actor }),
  Type.Object({ type: Type.Literal('enabled'), by: Actor }),
  Type.Object({ type: Type.Literal('project-claimed'), ...ProjectClaim }),
  Type.Object({ type: Type.Literal('project-confirmed'), ...ProjectClaim }),
  Type.Object({ type: Type.Literal('project-released'), ...ProjectClaim }),
  Type.Object({ type: Type.Literal('project-overdue'), ...ProjectClaim }),
]);
export type OrganizationEvent = ValueOf<typeof OrganizationEvent>;

/** Applies the event to the state, which it changes and returns. */
export function applyToOrganization(state: Organization, event: OrganizationEvent): Organization {
  switch (event.type) {
    case 'created':
      state.status = 'alive';
      state.name = event.name;
      addMember(state, event.owner, 'owner', event);
      return state;
    case 'renamed':
      state.name = event.name;
      return state;
    case 'deleted':
      return { ...emptyOrganization(), status: 'deleted' };
    case 'invited': {
      const { key, email, role, by, atMs } = event;
      const untilMs = event.untilMs ?? state.invitations[key]?.untilMs;
      const invitation = { email, role, invitedAtMs: atMs, invitedBy: by.display };
      state.invitations[key] = { ...invitation, ...(untilMs !== undefined && { untilMs }) };
      return state;
    }
    case 'invitation-withdrawn':
      delete state.invitations[event.key];
      return state;
    case 'pointer-left':
      if (hasInvitationUntil(state.invitations, event)) delete state.invitations[event.key];
      state.leftUntilMs = Math.max(state.leftUntilMs ?? 0, event.untilMs);
      return state;
    case 'joined': {
      const { role, invitedBy } = state.invitations[event.key]!;
      delete state.invitations[event.key];
      const { subject, ...person } = event.person;
      state.members[subject] = { role, ...person, sinceMs: event.atMs, addedBy: invitedBy };
      return state;
    }
    case 'member-repaired':
      addMember(state, event.person, event.role, event);
      return state;
    case 'member-removed':
      delete state.members[event.subject];
      return state;
    case 'role-changed':
      state.members[event.subject]!.role = event.role;
      return state;
    case 'disabled':
      state.disabledBy = event.by;
      return state;
    case 'enabled':
      delete state.disabledBy;
      return state;
    case 'project-claimed':
      setClaim(state.projects, event.project, event.claim, false);
      return state;
    case 'project-confirmed':
      setClaim(state.projects, event.project, event.claim, true);
      return state;
    case 'project-released':
      removeClaim(state.projects, event.project, event.claim);
      return state;
    case 'project-overdue':
      return state;
  }
}

export function emptyOrganization(): Organization {
  return {
    status: 'unused',
    name: '',
    members: emptyRecord(),
    invitations: emptyRecord(),
    projects: emptyRecord(),
  };
}

function addMember(
  state: Organization,
  { subject, ...person }: Person,
  role: Role,
  { by, atMs }: { readonly by: Actor; readonly atMs: number },
): void {
  state.members[subject] = { role, ...person, sinceMs: atMs, addedBy: by.display };
}

/** Returns whether an address is invited because of a pointer that lets the organization decide until a time at most. */
export function hasInvitationUntil(
  invitations: Readonly<Record<string, ReadonlyDeep<ValueOf<typeof Invitation>>>>,
  { key, untilMs }: { readonly key: string; readonly untilMs: number },
): boolean {
  const invitation = invitations[key];
  return invitation !== undefined && (invitation.untilMs ?? 0) <= untilMs;
}

/** Returns whether nobody but this subject is an owner. */
export function isLastOwner(
  members: Readonly<Record<string, Readonly<Member>>>,
  subject: string,
): boolean {
  if (members[subject]?.role !== 'owner') return false;
  for (const other of Object.keys(members))
    if (other !== subject && members[other]!.role === 'owner') return false;
  return true;
}
