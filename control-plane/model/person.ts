// Person: what a subject's tokens said last, and the organizations that may have the subject as a member. Its id is the
// subject.
//
// Invariant: an organization that has the subject as a member is pointed to: see pointers.ts.
import { Type } from 'typebox';
import { defineEntity, type ValueOf } from '@svc/host';
import { emptyRecord } from './claims.ts';
import {
  PointedUntil,
  Pointer,
  Pointers,
  isRemovable,
  nextVersion,
  pointedUntil,
  pointerList,
} from './pointers.ts';

/** Why an organization may have the person as a member: the first reason for which the pointer to it was set. */
export const PointingReason = Type.Enum(['created', 'invited', 'appointed']);
export type PointingReason = ValueOf<typeof PointingReason>;

/**
 * Maximum number of pointers of one person for each reason: organizations that the person creates, those that have invited the
 * person, and those where an administrator makes the person a member. What others do is never counted with what the person does.
 */
export const ORGANIZATIONS_MAX: Readonly<Record<PointingReason, number>> = {
  created: 100,
  invited: 1_000,
  appointed: 1_000,
};
const FULL: Readonly<Record<PointingReason, string>> = {
  created: `you have created ${ORGANIZATIONS_MAX.created} organizations, which is the most: delete one, or send the request again in a minute if some of them were refused`,
  invited: 'the person belongs to too many organizations',
  appointed: 'administrators have made the person a member of too many organizations',
};

/** How long after the last change of a profile another one is stored: of the address, and of the name alone. */
export const ADDRESS_PAUSE_MS = 60_000;
export const NAME_PAUSE_MS = 3_600_000;

/** The address is one that the provider has verified, or empty. */
const Profile = Type.Object({ name: Type.String(), email: Type.String() });

const Person = Type.Object({
  ...Profile.properties,
  /** Time of the last change of the profile, in milliseconds since 1970. */
  seenAtMs: Type.Integer(),
  organizations: Pointers,
  /** Reasons indexed by the id that is pointed to. */
  reasons: Type.Record(Type.String(), PointingReason),
  version: Type.Integer(),
});

const PersonEvent = Type.Union([
  Type.Object({ type: Type.Literal('seen'), ...Profile.properties, atMs: Type.Integer() }),
  Type.Object({ type: Type.Literal('pointed'), ...Pointer.properties, reason: PointingReason }),
  Type.Object({ type: Type.Literal('unpointed'), to: Type.String() }),
]);

export const person = defineEntity({
  component: 'person',
  state: { manifest: 'person', schema: Person },
  event: { manifest: 'person-event', schema: PersonEvent },

  empty: () => ({
    name: '',
    email: '',
    seenAtMs: 0,
    organizations: emptyRecord(),
    reasons: emptyRecord(),
    version: 0,
  }),

  apply(state, event) {
    switch (event.type) {
      case 'seen':
        state.name = event.name;
        state.email = event.email;
        state.seenAtMs = event.atMs;
        return state;
      case 'pointed':
        state.organizations[event.to] = event.version;
        state.reasons[event.to] ??= event.reason;
        state.version = event.version;
        return state;
      case 'unpointed':
        delete state.organizations[event.to];
        delete state.reasons[event.to];
        return state;
    }
  },

  commands: {
    /** Changes that follow each other fast are not stored: the next request of the person has them again. */
    see: {
      input: Profile,
      handle(state, { name, email }, { nowMs, persist, reply }) {
        if (state.name === name && state.email === email) return reply();
        const pauseMs = state.email === email ? NAME_PAUSE_MS : ADDRESS_PAUSE_MS;
        if (nowMs < state.seenAtMs + pauseMs) return reply();
        return persist({ type: 'seen', name, email, atMs: nowMs }).thenReply();
      },
    },
    point: {
      input: Type.Object({ to: Type.String(), reason: PointingReason }),
      reply: PointedUntil,
      handle(state, { to, reason }, { nowMs, persist, refuse }) {
        if (isFullFor(state.reasons, to, reason)) return refuse(FULL[reason], 'CONFLICT');
        const version = nextVersion(state.version, nowMs);
        return persist({ type: 'pointed', to, version, reason }).thenReply(pointedUntil(version));
      },
    },
    unpoint: {
      input: Pointer,
      handle(state, pointer, { nowMs, persist, reply }) {
        if (!isRemovable(state.organizations, pointer, nowMs)) return reply();
        return persist({ type: 'unpointed', to: pointer.to }).thenReply();
      },
    },
  },

  queries: {
    profile: {
      reply: Profile,
      handle: ({ name, email }) => ({ name, email }),
    },
    organizations: {
      reply: Type.Array(Pointer),
      handle: (state) => pointerList(state.organizations),
    },
    /** The pointers that were set first for a reason. */
    organizationsOf: {
      input: Type.Object({ reason: PointingReason }),
      reply: Type.Array(Pointer),
      handle: ({ organizations, reasons }, { reason }) =>
        pointerList(organizations).filter((pointer) => reasons[pointer.to] === reason),
    },
  },
});

function isFullFor(
  reasons: Readonly<Record<string, PointingReason>>,
  to: string,
  reason: PointingReason,
): boolean {
  if (reasons[to] !== undefined) return false;
  let count = 0;
  for (const id of Object.keys(reasons)) if (reasons[id] === reason) count++;
  return count >= ORGANIZATIONS_MAX[reason];
}
