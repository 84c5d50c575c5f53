// Email: the organizations that may have invited an address. Its id is the normalised address (tokens/).
//
// Invariant: an organization that has an invitation of the address is pointed to: see pointers.ts.
import { Type } from 'typebox';
import { defineEntity } from '@svc/host';
import { emptyRecord } from './claims.ts';
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

/** Says nothing about who has invited the address. */
const ADDRESS_FULL =
  'this address takes no further invitation now: invite it again after its holder has used a token, or invite another address';

const Email = Type.Object({ organizations: Pointers, version: Type.Integer() });

const EmailEvent = Type.Union([
  Type.Object({ type: Type.Literal('pointed'), ...Pointer.properties }),
  Type.Object({ type: Type.Literal('unpointed'), to: Type.String() }),
]);

export const email = defineEntity({
  component: 'email',
  state: { manifest: 'email', schema: Email },
  event: { manifest: 'email-event', schema: EmailEvent },

  empty: () => ({ organizations: emptyRecord(), version: 0 }),

  apply(state, event) {
    switch (event.type) {
      case 'pointed':
        state.organizations[event.to] = event.version;
        state.version = event.version;
        return state;
      case 'unpointed':
        delete state.organizations[event.to];
        return state;
    }
  },

  commands: {
    point: {
      input: Type.Object({ to: Type.String() }),
      reply: PointedUntil,
      handle(state, { to }, { nowMs, persist, refuse }) {
        if (isFull(state.organizations, to)) return refuse(ADDRESS_FULL, 'CONFLICT');
        const version = nextVersion(state.version, nowMs);
        return persist({ type: 'pointed', to, version }).thenReply(pointedUntil(version));
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
    organizations: {
      reply: Type.Array(Pointer),
      handle: (state) => pointerList(state.organizations),
    },
    /** The pointers that were set after a version, at most `max`, in the order in which they were set. */
    organizationsAfter: {
      input: Type.Object({ after: Type.Integer(), max: Type.Integer() }),
      reply: Type.Array(Pointer),
      handle: (state, range) => pointersAfter(state.organizations, range),
    },
  },
});
