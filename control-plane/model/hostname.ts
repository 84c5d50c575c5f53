// Hostname: which service holds a hostname, a derived or a custom one. Its id is the hostname in lower case.
//
// Invariants: one service at most holds it, and holds it as long as it has a claim: see claims.ts, where the hostname is the
// name and the service is the child.
import { Type } from 'typebox';
import { Due, defineEntity } from '@svc/host';
import {
  Claim,
  Claims,
  HeldClaim,
  SETTLE_AFTER_MS,
  emptyRecord,
  hasPendingMax,
  heldClaims,
  isAnyConfirmed,
  newClaim,
} from './claims.ts';
import {
  HOSTNAME_UNSETTLED,
  hostnameTaken,
  refuseTooManyClaims,
  refuseUnsettled,
} from './refusals.ts';

const Hostname = Type.Object({
  /** `<project>/<service>`; empty: nobody. */
  service: Type.String(),
  claims: Claims,
});

const claim = Type.String();

export const HostnameEvent = Type.Union([
  Type.Object({ type: Type.Literal('claimed'), service: Type.String(), claim }),
  Type.Object({ type: Type.Literal('confirmed'), claim }),
  Type.Object({ type: Type.Literal('released'), claim }),
  /** Nobody confirmed the claim: a consumer asks the service, and confirms or releases it. */
  Type.Object({ type: Type.Literal('overdue'), service: Type.String(), claim }),
]);

const Claimed = Type.Object({ claim });
const TIMER = 'settle/';

export const hostname = defineEntity({
  component: 'hostname',
  state: { manifest: 'hostname', schema: Hostname },
  event: { manifest: 'hostname-event', schema: HostnameEvent },

  empty: () => ({ service: '', claims: emptyRecord() }),

  apply(state, event) {
    switch (event.type) {
      case 'claimed':
        state.service = event.service;
        state.claims[event.claim] = false;
        return state;
      case 'confirmed':
        state.claims[event.claim] = true;
        return state;
      case 'released':
        delete state.claims[event.claim];
        if (Object.keys(state.claims).length === 0) state.service = '';
        return state;
      case 'overdue':
        return state;
    }
  },

  commands: {
    claim: {
      input: Type.Object({ service: Type.String() }),
      reply: Claim,
      handle(state, { service }, context) {
        if (state.service !== '' && state.service !== service)
          return isAnyConfirmed(state.claims)
            ? context.refuse(hostnameTaken(context.entityId), 'CONFLICT')
            : refuseUnsettled(HOSTNAME_UNSETTLED, context.nowMs);
        if (hasPendingMax(state.claims)) return refuseTooManyClaims(context.nowMs);
        const made = newClaim(context);
        return context
          .persist({ type: 'claimed', service, claim: made.id })
          .thenSetTimer(
            TIMER + made.id,
            Due.after(SETTLE_AFTER_MS),
            context.self.settle({ claim: made.id }),
          )
          .thenReply(made);
      },
    },
    confirm: {
      input: Claimed,
      handle(state, { claim: id }, { persist, reply }) {
        if (state.claims[id] !== false) return reply();
        return persist({ type: 'confirmed', claim: id })
          .thenCancelTimer(TIMER + id)
          .thenReply();
      },
    },
    release: {
      input: Claimed,
      handle(state, { claim: id }, { persist, reply }) {
        if (state.claims[id] === undefined) return reply();
        return persist({ type: 'released', claim: id })
          .thenCancelTimer(TIMER + id)
          .thenReply();
      },
    },
    settle: {
      input: Claimed,
      handle(state, { claim: id }, { persist, reply }) {
        if (state.claims[id] !== false) return reply();
        return persist({ type: 'overdue', service: state.service, claim: id }).thenReply();
      },
    },
  },

  queries: {
    /** Claims by the `<project>/<service>` that has them. */
    claims: {
      reply: Type.Array(HeldClaim),
      handle: ({ service, claims }) => heldClaims({ [service]: claims }),
    },
    /** `<project>/<service>` of the holder; empty: nobody. */
    holder: { reply: Type.String(), handle: (state) => state.service },
  },
});
