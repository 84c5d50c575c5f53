// RequestRoutes: those who send requests to the services of this machine (gateway, proxies), as the orchestrator sees them.
import type { ServiceKey } from '@svc/client';
import type { RoutedService } from '@svc/routing/route-table';

/** The part of a route that the orchestrator knows of a service. */
export type ServiceRoute = Pick<RoutedService, 'state' | 'hostnames' | 'instances'>;

export interface RequestRoutes {
  /** Sends all who route where the requests of a service go from now on. Repeating it has no effect. */
  route(key: ServiceKey, route: ServiceRoute): void;
  /** Removes the service from the routes: it does not exist. */
  withdraw(key: ServiceKey): void;
  /** Asks all who route to hold the requests of the service. Asking again has no effect. `acknowledged` is called once they do, unless it is released before. */
  hold(key: ServiceKey, acknowledged: () => void): void;
  /** Lets held requests continue, by the last route of the service. */
  release(key: ServiceKey): void;
  /** Whether those who followed a former control plane have had time to connect. No hold is acknowledged before. */
  readonly haveRoutersGathered: boolean;
  /** `acknowledged`: all who route hold the requests of the service, and none is under way. */
  holdOf(key: ServiceKey): 'none' | 'asked' | 'acknowledged';
  /** Returns whether all who route send nothing to the instance any more. */
  isUnused(key: ServiceKey, name: string): boolean;
}

/** Nobody routes: what is asked for is so at once. */
export class NobodyRoutes implements RequestRoutes {
  readonly haveRoutersGathered = true;
  readonly #held = new Set<string>();

  route(): void {}

  withdraw(): void {}

  hold({ project, service }: ServiceKey, acknowledged: () => void): void {
    this.#held.add(`${project}/${service}`);
    acknowledged();
  }

  release({ project, service }: ServiceKey): void {
    this.#held.delete(`${project}/${service}`);
  }

  holdOf({ project, service }: ServiceKey): 'none' | 'acknowledged' {
    return this.#held.has(`${project}/${service}`) ? 'acknowledged' : 'none';
  }

  isUnused(): boolean {
    return true;
  }
}
