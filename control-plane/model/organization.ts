// Organization: its members, its invitations, whether it is disabled, and the ids of its projects. It is never deleted from
// the journal: an id that was used once stays used (contract, document 1, "Identifier rules").
//
// Invariants: an organization that exists has an owner, whoever sends the commands. A deleted organization has no projects and
// takes none. Who may send a command is judged before, from the members of this state (access/); a command judges only what
// depends on the state.
import { Type } from 'typebox';
import { Due, defineEntity, type Refused } from '@svc/host';
import { Actor, withoutDisplay } from './actor.ts';
import {
  Claim,
  HeldClaim,
  SETTLE_AFTER_MS,
  confirmedCount,
  hasClaim,
  hasConfirmed,
  hasPendingMax,
  heldClaims,
  isPending,
  newClaim,
  settleTimer,
} from './claims.ts';
import {
  Invitation,
  Member,
  Organization,
  OrganizationEvent,
  Person,
  Role,
  applyToOrganization,
  emptyOrganization,
  hasInvitationUntil,
  isLastOwner,
} from './organization-state.ts';
import { PointedUntil } from './pointers.ts';
import {
  LAST_OWNER,
  NO_SUCH_INVITATION,
  NO_SUCH_MEMBER,
  NO_SUCH_ORGANIZATION,
  ORGANIZATION_ID_USED,
  PROJECT_UNSETTLED,
  refuseOver,
  refuseTooManyClaims,
  refuseUnsettled,
  refuseWithoutPointer,
} from './refusals.ts';

/** Maximum number of projects of one organization. */
export const PROJECTS_OF_ORGANIZATION_MAX = 1_000;
/** Maximum number of members of one organization, and of invitations. */
export const MEMBERS_OF_ORGANIZATION_MAX = 10_000;
export const INVITATIONS_OF_ORGANIZATION_MAX = 1_000;

const Subject = Type.Object({ subject: Type.String(), by: Actor });
const MEMBERS_FULL = `the organization has ${MEMBERS_OF_ORGANIZATION_MAX} members, which is the most: remove some`;
/** Until when the pointer to the organization lets it decide: see pointers.ts. Only what makes a member or an invitation needs it. */
const pointed = { untilMs: Type.Optional(PointedUntil.properties.untilMs) };
const PointerLeaves = Type.Object({ key: Type.String(), ...PointedUntil.properties });
const ProjectClaim = Type.Object({ project: Type.String(), claim: Type.String() });

/** The organization as one caller sees it. */
export const Access = Type.Object({
  isDisabled: Type.Boolean(),
  /** Absent: the caller is not a member. */
  role: Type.Optional(Role),
});

export const OrganizationSummary = Type.Object({
  name: Type.String(),
  projects: Type.Integer(),
  disabled: Type.Boolean(),
  role: Type.Optional(Role),
});

/** A command that is sent again changes nothing, except where its refusal says so. */
export const organization = defineEntity({
  component: 'organization',
  state: { manifest: 'organization', schema: Organization },
  event: { manifest: 'organization-event', schema: OrganizationEvent },

  empty: emptyOrganization,
  apply: applyToOrganization,

  comparedInput: withoutDisplay,
  commands: {
    create: {
      input: Type.Object({ name: Type.String(), owner: Person, by: Actor, ...pointed }),
      handle(state, { name, owner, by, untilMs }, { nowMs, persist, refuse }) {
        if (state.status !== 'unused') return refuse(ORGANIZATION_ID_USED, 'CONFLICT');
        const late = pointerRefusal(untilMs, nowMs);
        if (late !== undefined) return late;
        return persist({ type: 'created', name, owner, by, atMs: nowMs }).thenReply();
      },
    },
    rename: {
      input: Type.Object({ name: Type.String(), by: Actor }),
      handle(state, { name, by }, { persist, reply, refuse }) {
        if (state.status !== 'alive') return refuse(NO_SUCH_ORGANIZATION, 'NOT_FOUND');
        if (state.name === name) return reply();
        return persist({ type: 'renamed', name, by }).thenReply();
      },
    },
    delete: {
      input: Type.Object({ by: Actor }),
      handle(state, { by }, { nowMs, persist, refuse }) {
        if (state.status !== 'alive') return refuse(NO_SUCH_ORGANIZATION, 'NOT_FOUND');
        if (hasConfirmed(state.projects))
          return refuse('the organization has projects: delete them first', 'CONFLICT');
        if (Object.keys(state.projects).length > 0)
          return refuseUnsettled(PROJECT_UNSETTLED, nowMs);
        return persist({ type: 'deleted', by }).thenReply();
      },
    },

    /** Inviting the same address again replaces the role. `key`: the normalised address. */
    invite: {
      input: Type.Object({
        key: Type.String(),
        email: Type.String(),
        role: Role,
        by: Actor,
        ...pointed,
      }),
      handle(state, { key, email, role, by, untilMs }, { nowMs, persist, reply, refuse }) {
        if (state.status !== 'alive') return refuse(NO_SUCH_ORGANIZATION, 'NOT_FOUND');
        for (const subject of Object.keys(state.members))
          if (state.members[subject]!.emailKey === key)
            return refuse('a member has this address already', 'CONFLICT');
        const known = state.invitations[key];
        if (known?.role === role && known.email === email) return reply();
        if (
          known === undefined &&
          Object.keys(state.invitations).length >= INVITATIONS_OF_ORGANIZATION_MAX
        )
          return refuse(
            `the organization has ${INVITATIONS_OF_ORGANIZATION_MAX} invitations, which is the most: withdraw some`,
            'CONFLICT',
          );
        // An address that is invited is pointed to already.
        const invited = { type: 'invited' as const, key, email, role, by, atMs: nowMs };
        if (known !== undefined) return persist(invited).thenReply();
        const late = pointerRefusal(untilMs, nowMs);
        if (late !== undefined) return late;
        if (untilMs! <= (state.leftUntilMs ?? 0)) return refuseWithoutPointer(nowMs);
        return persist({ ...invited, untilMs: untilMs! }).thenReply();
      },
    },
    /**
     * Ends the invitation of an address whose pointer leaves for that of another organization. From then on nothing is decided
     * because of the pointer. An invitation of a pointer that was set later stays. `untilMs`: that of the pointer.
     */
    endInvitation: {
      input: PointerLeaves,
      handle(state, { key, untilMs }, { nowMs, persist, reply }) {
        if (state.status !== 'alive') return reply();
        const decidesNothing = nowMs >= untilMs || untilMs <= (state.leftUntilMs ?? 0);
        if (decidesNothing && !hasInvitationUntil(state.invitations, { key, untilMs }))
          return reply();
        return persist({ type: 'pointer-left', key, untilMs }).thenReply();
      },
    },
    withdrawInvitation: {
      input: Type.Object({ key: Type.String(), by: Actor }),
      handle(state, { key, by }, { persist, refuse }) {
        if (state.status !== 'alive') return refuse(NO_SUCH_ORGANIZATION, 'NOT_FOUND');
        if (state.invitations[key] === undefined) return refuse(NO_SUCH_INVITATION, 'NOT_FOUND');
        return persist({ type: 'invitation-withdrawn', key, by }).thenReply();
      },
    },
    /**
     * Makes a member of the person whose verified address is invited, and replies whether it did. The invitation of a
     * member ends without changing the member's role.
     */
    join: {
      input: Type.Object({ key: Type.String(), person: Person, ...pointed }),
      reply: Type.Boolean(),
      handle(state, { key, person, untilMs }, { nowMs, persist, reply, refuse }) {
        if (state.invitations[key] === undefined) return reply(false);
        const { subject, display } = person;
        if (state.members[subject] !== undefined) {
          const by = { subject, display, administrative: false };
          return persist({ type: 'invitation-withdrawn', key, by }).thenReply(false);
        }
        if (isFullOf(state.members)) return refuse(MEMBERS_FULL, 'CONFLICT');
        const late = pointerRefusal(untilMs, nowMs);
        if (late !== undefined) return late;
        return persist({ type: 'joined', key, person, atMs: nowMs }).thenReply(true);
      },
    },
    removeMember: {
      input: Subject,
      handle(state, { subject, by }, { persist, refuse }) {
        if (state.members[subject] === undefined) return refuse(NO_SUCH_MEMBER, 'NOT_FOUND');
        if (isLastOwner(state.members, subject)) return refuse(LAST_OWNER, 'CONFLICT');
        return persist({ type: 'member-removed', subject, by }).thenReply();
      },
    },
    setRole: {
      input: Type.Object({ subject: Type.String(), role: Role, by: Actor }),
      handle(state, { subject, role, by }, { persist, reply, refuse }) {
        const member = state.members[subject];
        if (member === undefined) return refuse(NO_SUCH_MEMBER, 'NOT_FOUND');
        if (member.role === role) return reply();
        if (isLastOwner(state.members, subject)) return refuse(LAST_OWNER, 'CONFLICT');
        return persist({ type: 'role-changed', subject, role, by }).thenReply();
      },
    },
    /** Adds a member, or sets the role of one. Only an administrator's request sends it. */
    repair: {
      input: Type.Object({ person: Person, role: Role, by: Actor, ...pointed }),
      handle(state, { person, role, by, untilMs }, { nowMs, persist, reply, refuse }) {
        if (state.status !== 'alive') return refuse(NO_SUCH_ORGANIZATION, 'NOT_FOUND');
        const { subject } = person;
        const member = state.members[subject];
        if (member?.role === role) return reply();
        if (isLastOwner(state.members, subject)) return refuse(LAST_OWNER, 'CONFLICT');
        if (member !== undefined)
          return persist({ type: 'role-changed', subject, role, by }).thenReply();
        if (isFullOf(state.members)) return refuse(MEMBERS_FULL, 'CONFLICT');
        const late = pointerRefusal(untilMs, nowMs);
        if (late !== undefined) return late;
        return persist({ type: 'member-repaired', person, role, by, atMs: nowMs }).thenReply();
      },
    },
    disable: {
      input: Type.Object({ by: Actor }),
      handle(state, { by }, { persist, reply, refuse }) {
        if (state.status !== 'alive') return refuse(NO_SUCH_ORGANIZATION, 'NOT_FOUND');
        return state.disabledBy !== undefined
          ? reply()
          : persist({ type: 'disabled', by }).thenReply();
      },
    },
    enable: {
      input: Type.Object({ by: Actor }),
      handle(state, { by }, { persist, reply, refuse }) {
        if (state.status !== 'alive') return refuse(NO_SUCH_ORGANIZATION, 'NOT_FOUND');
        return state.disabledBy === undefined
          ? reply()
          : persist({ type: 'enabled', by }).thenReply();
      },
    },

    /** Holds the id of a project that is going to be created. */
    claimProject: {
      input: Type.Object({ project: Type.String() }),
      reply: Claim,
      handle(state, { project }, context) {
        if (state.status !== 'alive') return context.refuse(NO_SUCH_ORGANIZATION, 'NOT_FOUND');
        const held = state.projects[project];
        if (hasPendingMax(held)) return refuseTooManyClaims(context.nowMs);
        if (
          held === undefined &&
          Object.keys(state.projects).length >= PROJECTS_OF_ORGANIZATION_MAX
        )
          return context.refuse(
            `the organization has ${PROJECTS_OF_ORGANIZATION_MAX} projects, which is the most: delete one`,
            'CONFLICT',
          );
        const claim = newClaim(context);
        return context
          .persist({ type: 'project-claimed', project, claim: claim.id })
          .thenSetTimer(
            settleTimer(project, claim.id),
            Due.after(SETTLE_AFTER_MS),
            context.self.settleProject({ project, claim: claim.id }),
          )
          .thenReply(claim);
      },
    },
    confirmProject: {
      input: ProjectClaim,
      handle(state, { project, claim }, { persist, reply }) {
        if (!isPending(state.projects, project, claim)) return reply();
        return persist({ type: 'project-confirmed', project, claim })
          .thenCancelTimer(settleTimer(project, claim))
          .thenReply();
      },
    },
    releaseProject: {
      input: ProjectClaim,
      handle(state, { project, claim }, { persist, reply }) {
        if (!hasClaim(state.projects, project, claim)) return reply();
        return persist({ type: 'project-released', project, claim })
          .thenCancelTimer(settleTimer(project, claim))
          .thenReply();
      },
    },
    /** The command of the timer: a consumer asks the project, and confirms or releases the claim. */
    settleProject: {
      input: ProjectClaim,
      handle(state, { project, claim }, { persist, reply }) {
        if (!isPending(state.projects, project, claim)) return reply();
        return persist({ type: 'project-overdue', project, claim }).thenReply();
      },
    },
  },

  queries: {
    /** The subject's role, if it is a member. Refused only if there is no such organization. */
    access: {
      input: Type.Object({ subject: Type.String() }),
      reply: Access,
      handle(state, { subject }, { refuse }) {
        if (state.status !== 'alive') return refuse(NO_SUCH_ORGANIZATION, 'NOT_FOUND');
        const role = state.members[subject]?.role;
        const isDisabled = state.disabledBy !== undefined;
        return role === undefined ? { isDisabled } : { isDisabled, role };
      },
    },
    summary: {
      input: Type.Object({ subject: Type.String() }),
      reply: OrganizationSummary,
      handle(state, { subject }, { refuse }) {
        if (state.status !== 'alive') return refuse(NO_SUCH_ORGANIZATION, 'NOT_FOUND');
        const { name } = state;
        const disabled = state.disabledBy !== undefined;
        const role = state.members[subject]?.role;
        const projects = confirmedCount(state.projects);
        return { name, projects, disabled, ...(role !== undefined && { role }) };
      },
    },
    people: {
      reply: Type.Object({
        members: Type.Record(Type.String(), Member),
        invitations: Type.Record(Type.String(), Invitation),
      }),
      handle(state, { refuse }) {
        if (state.status !== 'alive') return refuse(NO_SUCH_ORGANIZATION, 'NOT_FOUND');
        return { members: state.members, invitations: state.invitations };
      },
    },
    /** The administrator who disabled the organization. Absent: it is not disabled. */
    disabling: {
      reply: Type.Object({ by: Type.Optional(Actor) }),
      handle: ({ disabledBy: by }) => (by === undefined ? {} : { by }),
    },
    /** Whether the normalised address is invited. */
    isInvited: {
      input: Type.Object({ key: Type.String() }),
      reply: Type.Boolean(),
      handle: (state, { key }) => state.invitations[key] !== undefined,
    },
    projectClaims: {
      reply: Type.Array(HeldClaim),
      handle: (state) => heldClaims(state.projects),
    },
    /** Ids of the projects that exist, or are being created. */
    projectIds: {
      reply: Type.Array(Type.String()),
      handle: (state) => Object.keys(state.projects).toSorted(),
    },
  },
});

/** Returns the refusal of a change that needs a pointer, if there is none whose time is not over. */
function pointerRefusal(untilMs: number | undefined, nowMs: number): Refused | undefined {
  if (untilMs === undefined) return refuseWithoutPointer(nowMs);
  return nowMs >= untilMs ? refuseOver(nowMs) : undefined;
}

function isFullOf(members: Readonly<Record<string, Readonly<Member>>>): boolean {
  return Object.keys(members).length >= MEMBERS_OF_ORGANIZATION_MAX;
}
