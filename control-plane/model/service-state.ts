// The state and the events of a service. Its events are its history (contract, document 1, "History entry").
import { Type } from 'typebox';
import { HOSTINGS } from '@svc/client';
import type { ReadonlyDeep, ValueOf } from '@svc/host';
import { Actor } from './actor.ts';
import { Claim, emptyRecord } from './claims.ts';

const Text = Type.String();
const Texts = Type.Array(Text);

/** A descriptor as it is stored. `descriptorProblems` of @svc/client has checked it; nothing here depends on its hosting. */
export const Descriptor = Type.Object({
  name: Text,
  image: Text,
  hosting: Type.Optional(Type.Enum([...HOSTINGS])),
  protocol: Type.Optional(Text),
  runtime: Type.Optional(Text),
  port: Type.Optional(Type.Integer()),
  processPort: Type.Optional(Type.Integer()),
  http: Type.Optional(Type.Boolean()),
  instances: Type.Optional(Type.Integer()),
  hostnames: Type.Optional(Texts),
  env: Type.Optional(Type.Record(Text, Text)),
  mounts: Type.Optional(Type.Array(Type.Object({ path: Text, service: Text }))),
  callers: Type.Optional(Texts),
  resources: Type.Optional(Type.Object({ cpu: Type.Optional(Text), memory: Type.Optional(Text) })),
  database: Type.Optional(Type.Object({ urlFrom: Text })),
  allow: Type.Optional(Texts),
  auth: Type.Optional(Text),
});
export type Descriptor = ValueOf<typeof Descriptor>;

/** A hostname and the claim with which the service holds it. */
export const HeldHostname = Type.Object({ hostname: Text, claim: Text });
export type HeldHostname = ValueOf<typeof HeldHostname>;

/** A hostname with a claim that the service has not used yet. */
export const ClaimedHostname = Type.Object({ hostname: Text, claim: Claim });
export type ClaimedHostname = ValueOf<typeof ClaimedHostname>;

export const Service = Type.Object({
  isAlive: Type.Boolean(),
  /** Id of the claim with which its present life began. */
  claim: Text,
  /** Continues after a deletion. */
  generation: Type.Integer(),
  /** Generation of the last apply. Absent while the service is deleted, and in a snapshot of an earlier version. */
  appliedGeneration: Type.Optional(Type.Integer()),
  /** Absent while the service is deleted. */
  descriptor: Type.Optional(Descriptor),
  /** The derived hostname, while the service is exposed. */
  exposed: Type.Optional(HeldHostname),
  /** Ids of claims by custom hostname. */
  hostnames: Type.Record(Text, Text),
  paused: Type.Boolean(),
  suspended: Type.Boolean(),
});
export type Service = ValueOf<typeof Service>;

/** Entries that were recorded before actors were tracked have neither actor nor time. */
const entry = {
  generation: Type.Integer(),
  by: Type.Optional(Actor),
  atMs: Type.Optional(Type.Integer()),
};
const freed = Type.Array(HeldHostname);

export const ServiceEvent = Type.Union([
  Type.Object({
    type: Type.Literal('applied'),
    ...entry,
    descriptor: Descriptor,
    claim: Text,
    /** Custom hostnames that it holds from now on. */
    hostnames: Type.Array(HeldHostname),
    /** Custom hostnames that it held before and no longer does. */
    freed,
  }),
  Type.Object({ type: Type.Literal('restarted'), ...entry }),
  Type.Object({ type: Type.Literal('paused'), ...entry }),
  Type.Object({ type: Type.Literal('resumed'), ...entry }),
  Type.Object({ type: Type.Literal('exposed'), ...entry, ...HeldHostname.properties }),
  Type.Object({ type: Type.Literal('unexposed'), ...entry, freed }),
  Type.Object({ type: Type.Literal('deleted'), ...entry, claim: Text, freed }),
  Type.Object({ type: Type.Literal('suspended'), ...entry }),
  Type.Object({ type: Type.Literal('reinstated'), ...entry }),
]);
export type ServiceEvent = ValueOf<typeof ServiceEvent>;

export function emptyService(): Service {
  return {
    isAlive: false,
    claim: '',
    generation: 0,
    hostnames: emptyRecord(),
    paused: false,
    suspended: false,
  };
}

/** Applies the event to the state, and returns the new one. */
export function applyToService(state: Service, event: ServiceEvent): Service {
  switch (event.type) {
    case 'applied': {
      const { generation, descriptor, claim } = event;
      const hostnames = emptyRecord<string>();
      for (const held of event.hostnames) hostnames[held.hostname] = held.claim;
      const appliedGeneration = generation;
      return {
        ...state,
        isAlive: true,
        generation,
        appliedGeneration,
        descriptor,
        claim,
        hostnames,
      };
    }
    case 'restarted':
      state.generation = event.generation;
      return state;
    case 'paused':
      state.paused = true;
      return state;
    case 'resumed':
      state.paused = false;
      return state;
    case 'exposed':
      state.exposed = { hostname: event.hostname, claim: event.claim };
      return state;
    case 'unexposed':
      delete state.exposed;
      return state;
    case 'deleted':
      return { ...emptyService(), generation: state.generation };
    case 'suspended':
      state.suspended = true;
      return state;
    case 'reinstated':
      state.suspended = false;
      return state;
  }
}

/** Returns the fields of a descriptor that a status needs. The environment may be large, and secret. */
export function outlineOf({
  name,
  image,
  hosting,
  protocol,
  instances,
}: ReadonlyDeep<Descriptor>): Descriptor {
  return {
    name,
    image,
    ...(hosting !== undefined && { hosting }),
    ...(protocol !== undefined && { protocol }),
    ...(instances !== undefined && { instances }),
  };
}

/** Returns every hostname that the service holds. */
export function heldHostnames({
  exposed,
  hostnames,
}: {
  readonly exposed?: Readonly<HeldHostname> | undefined;
  readonly hostnames: Readonly<Record<string, string>>;
}): HeldHostname[] {
  const held = Object.keys(hostnames).map((hostname) => ({
    hostname,
    claim: hostnames[hostname]!,
  }));
  return exposed === undefined ? held : [{ ...exposed }, ...held];
}

/** Returns how the service stores a claimed hostname. */
export function heldHostname({ hostname, claim }: ClaimedHostname): HeldHostname {
  return { hostname, claim: claim.id };
}
