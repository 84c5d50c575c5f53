// WatchedRoutes: what the routers of an installation are sent about one service. It follows the routes as a router does, and acknowledges at once.
import { RouteClient } from '@svc/routing/route-client';

export class WatchedRoutes {
  /** Number of times that the requests of the service were to be held. */
  holds = 0;
  /** Fewest instances that the service had in a table; undefined before the first table. */
  instancesMin: number | undefined;
  readonly #client: RouteClient;

  /** `key`: the service, `<project>/<service>`. */
  constructor(socket: string, key: string) {
    this.#client = new RouteClient(socket, {
      use: ({ services }) => {
        const { instances = [] } = services.find((service) => service.key === key) ?? {};
        this.instancesMin = Math.min(this.instancesMin ?? Infinity, instances.length);
      },
      hold: async (held) => {
        if (held === key) this.holds++;
      },
      release: () => undefined,
    });
  }

  close(): void {
    this.#client.close();
  }
}
