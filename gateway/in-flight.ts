// InFlight: the requests that instances are answering. The instance with the fewest gets the next one, in turn among equals.
//
// Invariants: what `drained` gave resolves once the service has no request in flight, and what `drainedInstances` gave once none of those
// instances has one.
import type { RoutedInstance } from '@svc/routing/route-table';

interface ServiceCounts {
  /** Requests in flight by the name of the instance; no entry is 0. */
  readonly byInstance: Map<string, number>;
  readonly drained: (() => void)[];
  /** Those who wait for the last request of an instance, by its name. */
  readonly drainedInstances: Map<string, PromiseWithResolvers<void>>;
}

export class InFlight {
  readonly #services = new Map<string, ServiceCounts>();
  #turn = 0;

  /** Returns the instance for the next request; undefined if there is none. */
  choose(key: string, instances: readonly RoutedInstance[]): RoutedInstance | undefined {
    const counts = this.#services.get(key)?.byInstance;
    const countOf = ({ name }: RoutedInstance): number => counts?.get(name) ?? 0;
    const fewest = Math.min(...instances.map(countOf));
    const equals = instances.filter((instance) => countOf(instance) === fewest);
    return equals[this.#turn++ % Math.max(1, equals.length)];
  }

  /** Counts a request. Returns the function that ends it; further calls of that do nothing. */
  begin(key: string, instance: string): () => void {
    const service = this.#services.get(key) ?? {
      byInstance: new Map<string, number>(),
      drained: [],
      drainedInstances: new Map(),
    };
    this.#services.set(key, service);
    const { byInstance } = service;
    byInstance.set(instance, (byInstance.get(instance) ?? 0) + 1);
    let isEnded = false;
    return () => {
      if (isEnded) return;
      isEnded = true;
      const left = byInstance.get(instance)! - 1;
      if (left > 0) byInstance.set(instance, left);
      else {
        byInstance.delete(instance);
        service.drainedInstances.get(instance)?.resolve();
        service.drainedInstances.delete(instance);
      }
      if (byInstance.size === 0) this.#emptied(key, service);
    };
  }

  /** Resolves once the service has no request in flight. */
  drained(key: string): Promise<void> {
    const service = this.#services.get(key);
    if (service === undefined) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    service.drained.push(resolve);
    return promise;
  }

  /** Resolves once the instances that `chooses` selects have no request in flight; undefined: they have none. */
  drainedInstances(chooses: (key: string, instance: string) => boolean): Promise<void> | undefined {
    const chosen: Promise<void>[] = [];
    for (const [key, { byInstance, drainedInstances }] of this.#services)
      for (const name of byInstance.keys()) {
        if (!chooses(key, name)) continue;
        const waiting = drainedInstances.get(name) ?? Promise.withResolvers<void>();
        drainedInstances.set(name, waiting);
        chosen.push(waiting.promise);
      }
    return chosen.length === 0 ? undefined : Promise.all(chosen).then(() => undefined);
  }

  #emptied(key: string, { drained }: ServiceCounts): void {
    this.#services.delete(key);
    for (const resolve of drained) resolve();
  }
}
