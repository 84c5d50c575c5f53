// Email: the organizations that may have invited an address. Its id is the normalised address (`normalizedEmail` of @svc/client).
//
// Invariants: an organization that has an invitation of the address is pointed to: see pointers.ts. An address that is full takes
// another pointer in the place of one, whose organization has ended its invitation before. So nobody can fill an address.
import { Type } from 'typebox';
import { defineEntity } from '@svc/host';
import { emptyRecord } from './claims.ts';
import { leavingPointer } from './leaving-pointer.ts';
import {
  PointedUntil,
  Pointer,
  Pointers,
  isFull,
  isRemovable,
  nextVersion,
  pointedUntil,
  pointerList,
  pointersAfter,
} from './pointers.ts';
import { refuseFull } from './refusals.ts';

/** Maximum number of pointers of one address that one inviter has set. */
export const POINTERS_OF_INVITER_MAX = 10;
const INVITER_FULL = `you have invited this address to ${POINTERS_OF_INVITER_MAX} organizations, which is the most: withdraw an invitation and send this one again in two minutes, or let another member send it`;

const Email = Type.Object({
  organizations: Pointers,
  /** Subjects of those who have set the pointers first, indexed by the id that is pointed to. */
  inviters: Type.Record(Type.String(), Type.String()),
  version: Type.Integer(),
});

const EmailEvent = Type.Union([
  Type.Object({ type: Type.Literal('pointed'), ...Pointer.properties, inviter: Type.String() }),
  Type.Object({ type: Type.Literal('unpointed'), to: Type.String() }),
]);

export const email = defineEntity({
  component: 'email',
  state: { manifest: 'email', schema: Email },
  event: { manifest: 'email-event', schema: EmailEvent },

  empty: () => ({ organizations: emptyRecord(), inviters: emptyRecord(), version: 0 }),

  apply(state, event) {
    switch (event.type) {
      case 'pointed':
        state.organizations[event.to] = event.version;
        state.inviters[event.to] ??= event.inviter;
        state.version = event.version;
        return state;
      case 'unpointed':
        delete state.organizations[event.to];
        delete state.inviters[event.to];
        return state;
    }
  },

  commands: {
    point: {
      /** `instead`: a pointer that leaves. Its organization has ended its invitation, and decides nothing because of the pointer. */
      input: Type.Object({
        to: Type.String(),
        inviter: Type.String(),
        instead: Type.Optional(Pointer),
      }),
      reply: PointedUntil,
      handle(state, { to, inviter, instead }, { nowMs, seed, persistAll, refuse }) {
        const { organizations, inviters } = state;
        if (isFullFor(inviters, to, inviter)) return refuse(INVITER_FULL, 'CONFLICT');
        const leaves = instead !== undefined && organizations[instead.to] === instead.version;
        if (!leaves && isFull(organizations, to))
          return refuseFull(leavingPointer(organizations, inviters, { inviter, seed }), nowMs);
        const version = nextVersion(state.version, nowMs);
        const pointed = { type: 'pointed' as const, to, version, inviter };
        return persistAll(
          leaves ? [{ type: 'unpointed', to: instead.to }, pointed] : [pointed],
        ).thenReply(pointedUntil(version));
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
    /** The pointers that an inviter has set first. */
    pointersOf: {
      input: Type.Object({ inviter: Type.String() }),
      reply: Type.Array(Pointer),
      handle: ({ organizations, inviters }, { inviter }) =>
        pointerList(organizations).filter((pointer) => inviters[pointer.to] === inviter),
    },
    /** The pointers that were set after a version, at most `max`, in the order in which they were set. */
    organizationsAfter: {
      input: Type.Object({ after: Type.Integer(), max: Type.Integer() }),
      reply: Type.Array(Pointer),
      handle: (state, range) => pointersAfter(state.organizations, range),
    },
  },
});

function isFullFor(
  inviters: Readonly<Record<string, string>>,
  to: string,
  inviter: string,
): boolean {
  if (inviters[to] !== undefined) return false;
  let count = 0;
  for (const id of Object.keys(inviters)) if (inviters[id] === inviter) count++;
  return count >= POINTERS_OF_INVITER_MAX;
}
