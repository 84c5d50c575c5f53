// Project: its name, its organization, and the names of its services. It is never deleted from the journal: an id that was
// used once stays used (contract, document 1, "Identifier rules").
//
// Invariants: a project that exists has an organization that holds its claim, see claims.ts. A deleted project has no services
// and takes none.
import { Type } from 'typebox';
import { Due, defineEntity, type ValueOf } from '@svc/host';
import { Actor, withoutDisplay } from './actor.ts';
import {
  Claim,
  ClaimsByName,
  HeldClaim,
  SETTLE_AFTER_MS,
  confirmedCount,
  emptyRecord,
  hasClaim,
  hasConfirmed,
  hasPendingMax,
  heldClaims,
  isOver,
  isPending,
  newClaim,
  removeClaim,
  setClaim,
  settleTimer,
} from './claims.ts';
import {
  NO_SUCH_PROJECT,
  PROJECT_ID_USED,
  SERVICE_UNSETTLED,
  refuseOver,
  refuseTooManyClaims,
  refuseUnsettled,
  refuseWithoutClaims,
} from './refusals.ts';

/** Maximum number of services of one project. */
export const SERVICES_OF_PROJECT_MAX = 10_000;

const Status = Type.Enum(['unused', 'alive', 'deleted']);

const Project = Type.Object({
  status: Status,
  name: Type.String(),
  organization: Type.String(),
  /** Id of the claim with which the project was created. */
  claim: Type.String(),
  services: ClaimsByName,
  /** The administrator who disabled the organization. Absent: the services are not suspended. */
  suspendedBy: Type.Optional(Actor),
});

const ServiceClaim = Type.Object({ service: Type.String(), claim: Type.String() });

export const ProjectEvent = Type.Union([
  Type.Object({
    type: Type.Literal('created'),
    organization: Type.String(),
    name: Type.String(),
    claim: Type.String(),
    by: Actor,
  }),
  Type.Object({ type: Type.Literal('renamed'), name: Type.String(), by: Actor }),
  Type.Object({ type: Type.Literal('suspended'), by: Actor }),
  Type.Object({ type: Type.Literal('reinstated'), by: Actor }),
  Type.Object({
    type: Type.Literal('deleted'),
    organization: Type.String(),
    claim: Type.String(),
    by: Actor,
  }),
  Type.Object({
    type: Type.Literal('service-claimed'),
    service: Type.String(),
    claim: Type.String(),
  }),
  Type.Object({
    type: Type.Literal('service-confirmed'),
    service: Type.String(),
    claim: Type.String(),
  }),
  Type.Object({
    type: Type.Literal('service-released'),
    service: Type.String(),
    claim: Type.String(),
  }),
  Type.Object({
    type: Type.Literal('service-overdue'),
    service: Type.String(),
    claim: Type.String(),
  }),
]);
export type ProjectEvent = ValueOf<typeof ProjectEvent>;

export const ProjectSummary = Type.Object({
  name: Type.String(),
  organization: Type.String(),
  services: Type.Integer(),
});

/** The state is never changed by a refusal, and every command may be repeated: the second time it changes nothing. */
export const project = defineEntity({
  component: 'project',
  state: { manifest: 'project', schema: Project },
  event: { manifest: 'project-event', schema: ProjectEvent },

  empty: () => ({
    status: 'unused' as const,
    name: '',
    organization: '',
    claim: '',
    services: emptyRecord(),
  }),

  apply(state, event) {
    switch (event.type) {
      case 'created':
        state.status = 'alive';
        state.name = event.name;
        state.organization = event.organization;
        state.claim = event.claim;
        return state;
      case 'renamed':
        state.name = event.name;
        return state;
      case 'suspended':
        state.suspendedBy = event.by;
        return state;
      case 'reinstated':
        delete state.suspendedBy;
        return state;
      case 'deleted':
        state.status = 'deleted';
        return state;
      case 'service-claimed':
        setClaim(state.services, event.service, event.claim, false);
        return state;
      case 'service-confirmed':
        setClaim(state.services, event.service, event.claim, true);
        return state;
      case 'service-released':
        removeClaim(state.services, event.service, event.claim);
        return state;
      case 'service-overdue':
        return state;
    }
  },

  comparedInput: withoutDisplay,
  commands: {
    create: {
      input: Type.Object({
        organization: Type.String(),
        name: Type.String(),
        /** A claim of its id in the organization, without which nothing is created. */
        claim: Type.Optional(Claim),
        by: Actor,
      }),
      handle(state, { organization, name, claim, by }, { nowMs, persist, reply, refuse }) {
        if (state.status === 'alive' && state.claim === claim?.id) return reply();
        if (state.status !== 'unused') return refuse(PROJECT_ID_USED, 'CONFLICT');
        if (claim === undefined) return refuseWithoutClaims(nowMs);
        if (isOver(claim, nowMs)) return refuseOver(nowMs);
        return persist({ type: 'created', organization, name, claim: claim.id, by }).thenReply();
      },
    },
    rename: {
      input: Type.Object({ name: Type.String(), by: Actor }),
      handle(state, { name, by }, { persist, reply, refuse }) {
        if (state.status !== 'alive') return refuse(NO_SUCH_PROJECT, 'NOT_FOUND');
        if (state.name === name) return reply();
        return persist({ type: 'renamed', name, by }).thenReply();
      },
    },
    /** The organization was disabled: a consumer suspends the services. */
    suspend: {
      input: Type.Object({ by: Actor }),
      handle(state, { by }, { persist, reply }) {
        if (state.status !== 'alive' || state.suspendedBy !== undefined) return reply();
        return persist({ type: 'suspended', by }).thenReply();
      },
    },
    reinstate: {
      input: Type.Object({ by: Actor }),
      handle(state, { by }, { persist, reply }) {
        if (state.status !== 'alive' || state.suspendedBy === undefined) return reply();
        return persist({ type: 'reinstated', by }).thenReply();
      },
    },
    /** Replies with the claim that the organization then releases. */
    delete: {
      input: Type.Object({ by: Actor }),
      reply: Type.Object({ organization: Type.String(), claim: Type.String() }),
      handle(state, { by }, { nowMs, persist, refuse }) {
        if (state.status !== 'alive') return refuse(NO_SUCH_PROJECT, 'NOT_FOUND');
        if (hasConfirmed(state.services))
          return refuse('the project has services: delete them first', 'CONFLICT');
        if (Object.keys(state.services).length > 0)
          return refuseUnsettled(SERVICE_UNSETTLED, nowMs);
        const { organization, claim } = state;
        return persist({ type: 'deleted', organization, claim, by }).thenReply({
          organization,
          claim,
        });
      },
    },
    /** Holds the name of a service that is going to be created. */
    claimService: {
      input: Type.Object({ service: Type.String() }),
      reply: Claim,
      handle(state, { service }, context) {
        if (state.status !== 'alive') return context.refuse(NO_SUCH_PROJECT, 'NOT_FOUND');
        const held = state.services[service];
        if (hasPendingMax(held)) return refuseTooManyClaims(context.nowMs);
        if (held === undefined && Object.keys(state.services).length >= SERVICES_OF_PROJECT_MAX)
          return context.refuse(
            `the project has ${SERVICES_OF_PROJECT_MAX} services, which is the most: delete one, or create another project`,
            'CONFLICT',
          );
        const claim = newClaim(context);
        return context
          .persist({ type: 'service-claimed', service, claim: claim.id })
          .thenSetTimer(
            settleTimer(service, claim.id),
            Due.after(SETTLE_AFTER_MS),
            context.self.settleService({ service, claim: claim.id }),
          )
          .thenReply(claim);
      },
    },
    confirmService: {
      input: ServiceClaim,
      handle(state, { service, claim }, { persist, reply }) {
        if (!isPending(state.services, service, claim)) return reply();
        return persist({ type: 'service-confirmed', service, claim })
          .thenCancelTimer(settleTimer(service, claim))
          .thenReply();
      },
    },
    releaseService: {
      input: ServiceClaim,
      handle(state, { service, claim }, { persist, reply }) {
        if (!hasClaim(state.services, service, claim)) return reply();
        return persist({ type: 'service-released', service, claim })
          .thenCancelTimer(settleTimer(service, claim))
          .thenReply();
      },
    },
    /** The command of the timer: a consumer asks the service, and confirms or releases the claim. */
    settleService: {
      input: ServiceClaim,
      handle(state, { service, claim }, { persist, reply }) {
        if (!isPending(state.services, service, claim)) return reply();
        return persist({ type: 'service-overdue', service, claim }).thenReply();
      },
    },
  },

  queries: {
    /** Id of its organization. Refused if the project does not exist. */
    organization: {
      reply: Type.String(),
      handle: (state, { refuse }) =>
        state.status === 'alive' ? state.organization : refuse(NO_SUCH_PROJECT, 'NOT_FOUND'),
    },
    summary: {
      reply: ProjectSummary,
      handle(state, { refuse }) {
        if (state.status !== 'alive') return refuse(NO_SUCH_PROJECT, 'NOT_FOUND');
        const { name, organization, services } = state;
        return { name, organization, services: confirmedCount(services) };
      },
    },
    /** The administrator who disabled the organization. Absent: the services are not suspended. */
    suspension: {
      reply: Type.Object({ by: Type.Optional(Actor) }),
      handle: ({ suspendedBy: by }) => (by === undefined ? {} : { by }),
    },
    serviceClaims: {
      reply: Type.Array(HeldClaim),
      handle: (state) => heldClaims(state.services),
    },
    /** Names of the services that exist, or are being created. */
    serviceNames: {
      reply: Type.Array(Type.String()),
      handle: (state) => Object.keys(state.services).toSorted(),
    },
    /** Whether this claim created the project. */
    hasClaim: {
      input: Type.Object({ claim: Type.String() }),
      reply: Type.Boolean(),
      handle: (state, { claim }) => state.status === 'alive' && state.claim === claim,
    },
  },
});
