// Service: its descriptor, whether it is exposed, paused or suspended, and its generation. Its id is `<project>/<name>`. It is
// never deleted from the journal: a name may be used again, and generation and history go on.
//
// Invariants: a service that exists has a project that holds its claim, and each hostname it holds has a claim of it: see
// claims.ts. The generation rises with every apply and every restart, and never falls. An entry of the history is stored for
// what changes something, with the actor and the time of the decision.
import { Type } from 'typebox';
import { defineEntity, type ReadonlyDeep } from '@svc/host';
import { Actor, withoutDisplay } from './actor.ts';
import { Claim, emptyRecord, isOver } from './claims.ts';
import { NO_SUCH_SERVICE, SERVES_NO_HTTP, refuseOver, refuseWithoutClaims } from './refusals.ts';
import {
  ClaimedHostname,
  Descriptor,
  HeldHostname,
  Service,
  ServiceEvent,
  applyToService,
  emptyService,
  heldHostname,
  heldHostnames,
  outlineOf,
} from './service-state.ts';

const By = Type.Object({ by: Actor });

export const Applied = Type.Object({
  generation: Type.Integer(),
  /** Id of the claim with which its life began: a claim that was made for this apply and is another one is not needed. */
  claim: Type.String(),
  /** Hostnames that the service held before and no longer does: they are to be released. */
  freed: Type.Array(HeldHostname),
});

export const service = defineEntity({
  component: 'service',
  state: { manifest: 'service', schema: Service },
  event: { manifest: 'service-event', schema: ServiceEvent },

  empty: emptyService,
  apply: applyToService,

  comparedInput: withoutDisplay,
  commands: {
    apply: {
      input: Type.Object({
        descriptor: Descriptor,
        /** A claim of its name in the project; only a service that does not exist needs it. */
        claim: Type.Optional(Claim),
        /** Claims of the descriptor's hostnames; those that the service holds need none. */
        hostnames: Type.Array(ClaimedHostname),
        by: Actor,
      }),
      reply: Applied,
      handle(state, { descriptor, claim, hostnames: claimed, by }, { nowMs, persistAll }) {
        const hostnames = wantedHostnames(state, descriptor, claimed);
        const missing = hostnames.filter((held) => held.claim === '').map((held) => held.hostname);
        const isNew = !state.isAlive;
        if ((isNew && claim === undefined) || missing.length > 0)
          return refuseWithoutClaims(nowMs, { isNew, hostnames: missing });
        if (isNew && isOver(claim!, nowMs)) return refuseOver(nowMs);
        if (claimed.some((one) => isOver(one.claim, nowMs))) return refuseOver(nowMs);
        const generation = state.generation + 1;
        const life = isNew ? claim!.id : state.claim;
        const entry = { generation, by, atMs: nowMs };
        const kept = new Set(hostnames.map((held) => held.claim));
        const freed = heldHostnames({ hostnames: state.hostnames }).filter(
          (held) => !kept.has(held.claim),
        );
        const applied = { type: 'applied' as const, ...entry, descriptor, claim: life, hostnames };
        const reply = { generation, claim: life };
        const { exposed } = state;
        if (descriptor.http !== false || exposed === undefined)
          return persistAll([{ ...applied, freed }]).thenReply({ ...reply, freed });
        return persistAll([
          { ...applied, freed },
          { type: 'unexposed', ...entry, freed: [exposed] },
        ]).thenReply({ ...reply, freed: [...freed, exposed] });
      },
    },
    restart: {
      input: By,
      handle(state, { by }, { nowMs, persist, refuse }) {
        if (!state.isAlive) return refuse(NO_SUCH_SERVICE, 'NOT_FOUND');
        if (state.paused)
          return refuse('the service is paused: resume it instead of restarting it', 'CONFLICT');
        const generation = state.generation + 1;
        return persist({ type: 'restarted', generation, by, atMs: nowMs }).thenReply();
      },
    },
    pause: {
      input: By,
      handle(state, { by }, { nowMs, persist, reply, refuse }) {
        if (!state.isAlive) return refuse(NO_SUCH_SERVICE, 'NOT_FOUND');
        if (state.paused) return reply();
        const { generation } = state;
        return persist({ type: 'paused', generation, by, atMs: nowMs }).thenReply();
      },
    },
    resume: {
      input: By,
      handle(state, { by }, { nowMs, persist, reply, refuse }) {
        if (!state.isAlive) return refuse(NO_SUCH_SERVICE, 'NOT_FOUND');
        if (!state.paused) return reply();
        const { generation } = state;
        return persist({ type: 'resumed', generation, by, atMs: nowMs }).thenReply();
      },
    },
    /** Replies with the hostname that it has, which a request at the same time may have claimed. */
    expose: {
      input: Type.Object({ ...ClaimedHostname.properties, by: Actor }),
      reply: HeldHostname,
      handle(state, { hostname, claim, by }, { nowMs, persist, reply, refuse }) {
        if (!state.isAlive) return refuse(NO_SUCH_SERVICE, 'NOT_FOUND');
        if (state.descriptor?.http === false) return refuse(SERVES_NO_HTTP, 'CONFLICT');
        if (state.exposed !== undefined) return reply(state.exposed);
        if (isOver(claim, nowMs)) return refuseOver(nowMs);
        const { generation } = state;
        const held = heldHostname({ hostname, claim });
        return persist({ type: 'exposed', generation, by, atMs: nowMs, ...held }).thenReply(held);
      },
    },
    /** Replies with the hostnames to release. */
    unexpose: {
      input: By,
      reply: Type.Array(HeldHostname),
      handle(state, { by }, { nowMs, persist, reply, refuse }) {
        if (!state.isAlive) return refuse(NO_SUCH_SERVICE, 'NOT_FOUND');
        const { exposed, generation } = state;
        if (exposed === undefined) return reply([]);
        const freed = [exposed];
        return persist({ type: 'unexposed', generation, by, atMs: nowMs, freed }).thenReply(freed);
      },
    },
    /** Replies with the claims to release: the one of its name in the project, and those of its hostnames. */
    delete: {
      input: By,
      reply: Type.Object({ claim: Type.String(), freed: Type.Array(HeldHostname) }),
      handle(state, { by }, { nowMs, persist, refuse }) {
        if (!state.isAlive) return refuse(NO_SUCH_SERVICE, 'NOT_FOUND');
        const { claim, generation } = state;
        const freed = heldHostnames(state);
        const entry = { generation, by, atMs: nowMs };
        return persist({ type: 'deleted', ...entry, claim, freed }).thenReply({ claim, freed });
      },
    },
    /** The organization was disabled. */
    suspend: {
      input: By,
      handle(state, { by }, { nowMs, persist, reply }) {
        if (!state.isAlive || state.suspended) return reply();
        const { generation } = state;
        return persist({ type: 'suspended', generation, by, atMs: nowMs }).thenReply();
      },
    },
    reinstate: {
      input: By,
      handle(state, { by }, { nowMs, persist, reply }) {
        if (!state.isAlive || !state.suspended) return reply();
        const { generation } = state;
        return persist({ type: 'reinstated', generation, by, atMs: nowMs }).thenReply();
      },
    },
  },

  queries: {
    /** Refused if the service does not exist. */
    get: {
      reply: Service,
      handle: (state, { refuse }) => (state.isAlive ? state : refuse(NO_SUCH_SERVICE, 'NOT_FOUND')),
    },
    /** The same without hostnames of the descriptor, and with as much of the descriptor as a status needs. */
    outline: {
      reply: Service,
      handle(state, { refuse }) {
        if (!state.isAlive) return refuse(NO_SUCH_SERVICE, 'NOT_FOUND');
        return { ...state, descriptor: outlineOf(state.descriptor!), hostnames: emptyRecord() };
      },
    },
    /** The same as `get` of a service that may be deleted, for whoever makes the platform follow. */
    desired: { reply: Service, handle: (state) => state },
    /** Whether this claim began its present life. */
    hasClaim: {
      input: Type.Object({ claim: Type.String() }),
      reply: Type.Boolean(),
      handle: (state, { claim }) => state.isAlive && state.claim === claim,
    },
    /** Whether it holds a hostname with this claim. */
    holds: {
      input: HeldHostname,
      reply: Type.Boolean(),
      handle: (state, { hostname, claim }) =>
        heldHostnames(state).some((held) => held.hostname === hostname && held.claim === claim),
    },
  },
});

/** Returns the descriptor's hostnames, each with a new claim, or the one that the service has; empty: there is none. */
function wantedHostnames(
  { hostnames: held }: ReadonlyDeep<Service>,
  descriptor: ReadonlyDeep<Descriptor>,
  claimed: ReadonlyDeep<ClaimedHostname[]>,
): HeldHostname[] {
  const made = new Map(claimed.map(({ hostname, claim }) => [hostname, claim.id]));
  return (descriptor.hostnames ?? []).map((hostname) => ({
    hostname,
    claim: made.get(hostname) ?? held[hostname] ?? '',
  }));
}
