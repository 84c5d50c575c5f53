// CallingContext: what a handler of a route and a consumer can reach: entities, their timers, views, other services, and the clock.
import { CONFIGURATION_COMPONENT } from '@svc/contract';
import type { HostCalls } from '@svc/model/guest';
import type { CallContext } from '@svc/model/call';
import type { ConfigurationDefinition } from './configuration-definition.ts';
import type { DeferredCall } from './deferred-call.ts';
import type { Due } from './due.ts';
import { type EntityClient, entityClient } from './entity-client.ts';
import type { EntityDefinition } from './entity-definition.ts';
import { SeededRandom } from './seeded-random.ts';
import { ServiceClient } from './service-client.ts';
import { nameOf, timerOf, type TimerOptions } from './timer-change.ts';
import { type ViewClient, viewClient } from './view-client.ts';
import type { ViewDefinition } from './view-definition.ts';

/** Timers of entities. The methods resolve once the change is on disk, and reject with an SvcError if nothing is changed. */
export interface Timers {
  /**
   * Sets a timer, which belongs to the entity that it calls: `timers.set('remind', Due.after(60_000),
   * callOf(order, id).remind())`. It replaces the timer of the same name. The runtime sends the command when the timer
   * is due, and tries again if it fails.
   */
  readonly set: (
    name: string,
    due: Due,
    call: DeferredCall,
    options?: TimerOptions,
  ) => Promise<void>;
  /** Cancels a timer of an entity, if there is one of this name. */
  readonly cancel: (entity: EntityDefinition, id: string, name: string) => Promise<void>;
}

export interface CallingContext {
  /** Returns a client of an entity of this service; calls carry the request's metadata. */
  readonly call: <Definition extends EntityDefinition>(
    entity: Definition,
    id: string,
  ) => EntityClient<Definition>;
  readonly timers: Timers;
  /** Returns a client of a view of this service. */
  readonly view: <Definition extends ViewDefinition>(view: Definition) => ViewClient<Definition>;
  /** Returns a client of another service: `billing` in the same project, or `ledger.finance` in another one. */
  readonly service: (name: string) => ServiceClient;
  /**
   * Reads the configuration of this service, as it is now: `await settings(configuration)`. Reads of one request may differ
   * if the values change between them.
   */
  readonly settings: <Values>(configuration: ConfigurationDefinition<Values>) => Promise<Values>;
  /**
   * Milliseconds since 1970-01-01T00:00:00Z: the time of the request, or of the last call's result. In a consumer: the
   * time of the event. Read it when you need it.
   */
  readonly nowMs: number;
  /** 64 random bits. */
  readonly seed: bigint;
  /** Returns a number from 0 up to 1, derived from the seed. */
  readonly random: () => number;
  /** Returns metadata of the request, such as `traceparent` and `tracestate`; undefined if there is none. */
  readonly metadata: (name: string) => string | undefined;
}

/** The components that a handler may name. */
export interface ReachableComponents {
  readonly entities: ReadonlySet<EntityDefinition>;
  readonly views: ReadonlySet<ViewDefinition>;
  /** Undefined: the service has none. */
  readonly configuration: ConfigurationDefinition | undefined;
}

export function callingContext(
  { seed, metadata }: CallContext,
  calls: HostCalls,
  { entities, views, configuration: own }: ReachableComponents,
): CallingContext {
  const path = { calls, metadata: () => metadata };
  let random: SeededRandom | undefined;
  const context: Record<keyof CallingContext, unknown> = {
    call: (entity: EntityDefinition, id: string) => {
      checkEntity(entity, entities);
      return entityClient(entity, path, id);
    },
    get timers() {
      return timersOf(calls, entities);
    },
    view: (view: ViewDefinition) => {
      if (!views.has(view)) throw new Error(`view '${view.id}' is none of this service's views`);
      return viewClient(view, calls);
    },
    service: (name: string) => new ServiceClient(name, calls),
    settings: async (configuration: ConfigurationDefinition) => {
      if (configuration !== own) throw new Error('the configuration is not that of this service');
      return readConfiguration(configuration, calls);
    },
    get nowMs() {
      return calls.nowMs();
    },
    seed,
    random: () => (random ??= new SeededRandom(seed)).next(),
    metadata: (name: string) => metadata.find(([known]) => known === name)?.[1],
  };
  return context as unknown as CallingContext;
}

async function readConfiguration(
  { codec }: ConfigurationDefinition,
  calls: HostCalls,
): Promise<unknown> {
  const target = { component: CONFIGURATION_COMPONENT, id: '' };
  const answer = await calls.call(target, 'read', 'null', [], undefined);
  if (answer.kind !== 'reply') throw new Error(answer.message);
  return codec.decode(answer.json, 'the configuration');
}

function timersOf(calls: HostCalls, entities: ReadonlySet<EntityDefinition>): Timers {
  return {
    set: async (...timer) => calls.setTimer(timerOf(...timer)),
    cancel: async (entity, id, name) => {
      checkEntity(entity, entities);
      return calls.cancelTimer({ component: entity.component, id }, nameOf(name));
    },
  };
}

function checkEntity(entity: EntityDefinition, entities: ReadonlySet<EntityDefinition>): void {
  if (!entities.has(entity))
    throw new Error(`component '${entity.component}' is none of this service's entities`);
}
