// RoutedRequests: where the requests of a hostname go. It follows the orchestrator as a router does: with each table, and with holds.
//
// Invariants: a request in flight counts from the moment in which its instance is chosen, so that a hold that is acknowledged has none.
import { type HoldLimits, HeldRequests } from '@svc/forward/held-requests';
import type { Router } from '@svc/routing/route-client';
import {
  EMPTY_TABLE,
  RouteIndex,
  type RoutedInstance,
  type RouteTable,
} from '@svc/routing/route-table';
import { InFlight } from './in-flight.ts';

export interface RoutedToInstance {
  readonly kind: 'instance';
  /** `<project>/<service>`. */
  readonly key: string;
  readonly instance: RoutedInstance;
  /** SPIFFE ID that the instance has to prove. */
  readonly identity: string;
  /** Ends the request, once it is answered or cannot be. */
  readonly end: () => void;
}

export type Routed =
  | RoutedToInstance
  | {
      readonly kind:
        | 'no-routes'
        | 'not-exposed'
        | 'paused'
        | 'suspended'
        | 'none-ready'
        /** All instances that are ready have been tried. */
        | 'none-left'
        | 'held-too-long'
        | 'too-many-held';
    };

export interface Routing {
  /** In lower case, without a port. */
  readonly hostname: string;
  /** Names of the instances that the request was given to before. */
  readonly tried: ReadonlySet<string>;
}

export class RoutedRequests implements Router {
  readonly #inFlight = new InFlight();
  readonly #held: HeldRequests;
  readonly #listeners: (() => void)[] = [];
  /** Keys of services that are held. */
  readonly #holds = new Set<string>();
  #hasTable = false;
  #index = new RouteIndex(EMPTY_TABLE);

  constructor(limits: HoldLimits) {
    this.#held = new HeldRequests(limits);
  }

  /** Calls back once another table is in use. */
  onTable(listener: () => void): void {
    this.#listeners.push(listener);
  }

  use(table: RouteTable): void {
    this.#hasTable = true;
    this.#index = new RouteIndex(table);
    for (const listener of this.#listeners) listener();
  }

  left(): Promise<void> | undefined {
    return this.#inFlight.drainedInstances(
      (key, name) => this.#index.service(key)?.instances.some((one) => one.name === name) !== true,
    );
  }

  /** Called again for each further hold of a service, of which `release` ends all. */
  hold(key: string): Promise<void> {
    this.#holds.add(key);
    return this.#inFlight.drained(key);
  }

  release(key: string): void {
    this.#holds.delete(key);
    this.#held.release(key);
  }

  /** Calls `routed` once, perhaps at once. Returns the function that forgets a request whose client has gone while it was held. */
  route(routing: Routing, routed: (to: Routed) => void): () => void {
    const key = this.#index.exposedAt(routing.hostname)?.key;
    if (key === undefined || !this.#holds.has(key)) {
      routed(this.#now(routing));
      return () => undefined;
    }
    return this.#held.add(key, (end) => {
      if (end === 'full') routed({ kind: 'too-many-held' });
      else if (end === 'timed-out') routed({ kind: 'held-too-long' });
      else routed(this.#released(routing));
    });
  }

  /** Returns whether a request that was given to an instance may still be sent there: the table still has the instance. */
  isCurrent({ key, identity, instance: { name, address, port } }: RoutedToInstance): boolean {
    const service = this.#index.service(key);
    return (
      service?.state === 'serving' &&
      service.identity === identity &&
      service.instances.some(
        (one) => one.name === name && one.address === address && one.port === port,
      )
    );
  }

  /** A request that has waited in vain is not told that nobody is there, but to come again. */
  #released(routing: Routing): Routed {
    const to = this.#now(routing);
    return to.kind === 'none-ready' ? { kind: 'held-too-long' } : to;
  }

  #now({ hostname, tried }: Routing): Routed {
    if (!this.#hasTable) return { kind: 'no-routes' };
    const service = this.#index.exposedAt(hostname);
    if (service === undefined) return { kind: 'not-exposed' };
    const { key, state, identity, instances } = service;
    if (state !== 'serving') return { kind: state };
    const left = instances.filter(({ name }) => !tried.has(name));
    const instance = this.#inFlight.choose(key, left);
    if (instance === undefined)
      return { kind: instances.length === 0 ? 'none-ready' : 'none-left' };
    return {
      kind: 'instance',
      key,
      instance,
      identity,
      end: this.#inFlight.begin(key, instance.name),
    };
  }
}
