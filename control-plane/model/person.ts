// Person: what a subject's tokens said last, and the organizations that may have the subject as a member. Its id is the
// subject.
//
// Invariant: an organization that has the subject as a member is pointed to: see pointers.ts.
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
} from './pointers.ts';

const Profile = Type.Object({ name: Type.String(), email: Type.String() });

const Person = Type.Object({
  ...Profile.properties,
  organizations: Pointers,
  version: Type.Integer(),
});

const PersonEvent = Type.Union([
  Type.Object({ type: Type.Literal('seen'), ...Profile.properties }),
  Type.Object({ type: Type.Literal('pointed'), ...Pointer.properties }),
  Type.Object({ type: Type.Literal('unpointed'), to: Type.String() }),
]);

export const person = defineEntity({
  component: 'person',
  state: { manifest: 'person', schema: Person },
  event: { manifest: 'person-event', schema: PersonEvent },

  empty: () => ({ name: '', email: '', organizations: emptyRecord(), version: 0 }),

  apply(state, event) {
    switch (event.type) {
      case 'seen':
        state.name = event.name;
        state.email = event.email;
        return state;
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
    see: {
      input: Profile,
      handle(state, { name, email }, { persist, reply }) {
        if (state.name === name && state.email === email) return reply();
        return persist({ type: 'seen', name, email }).thenReply();
      },
    },
    point: {
      input: Type.Object({ to: Type.String() }),
      reply: PointedUntil,
      handle(state, { to }, { nowMs, persist, refuse }) {
        if (isFull(state.organizations, to))
          return refuse('the person belongs to too many organizations', 'CONFLICT');
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
    profile: {
      reply: Profile,
      handle: ({ name, email }) => ({ name, email }),
    },
    organizations: {
      reply: Type.Array(Pointer),
      handle: (state) => pointerList(state.organizations),
    },
  },
});
