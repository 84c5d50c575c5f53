// RequestRoutes: those who send requests to the services of this machine (gateway, proxies), as the orchestrator sees them.
import type { ServiceKey } from '@svc/client';

/** An instance to which requests may be sent. */
export interface RoutedInstance {
  readonly name: string;
  readonly address: string;
  readonly port: number;
}

export interface RequestRoutes {
  /** Sends all who route the instances to which the requests of a service go from now on; empty: none. Repeating it has no effect. */
  route(key: ServiceKey, instances: readonly RoutedInstance[]): void;
  /** Asks all who route to hold the requests of the service. Asking again has no effect. */
  hold(key: ServiceKey): void;
  release(key: ServiceKey): void;
  /** `acknowledged`: all who route hold the requests of the service, and none is under way. */
  holdOf(key: ServiceKey): 'none' | 'asked' | 'acknowledged';
  /** Returns whether all who route send nothing to the instance any more, and nothing is under way there. */
  isUnused(key: ServiceKey, name: string): boolean;
}

/** Nobody routes: what is asked for is so at once. */
export class NobodyRoutes implements RequestRoutes {
  readonly #held = new Set<string>();

  route(): void {}

  hold({ project, service }: ServiceKey): void {
    this.#held.add(`${project}/${service}`);
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
