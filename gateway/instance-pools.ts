// InstancePools: the connections to the instances of services. A pool belongs to one address and one identity, so no connection is used
// for another service.
//
// Invariants: an instance that the table has no more keeps no idle connection.
import { connectToIdentity } from '@svc/forward/service-connector';
import { type Connect, DEFAULT_CLIENT_LIMITS, Pool, type Sweep, tcpConnect } from '@svc/http1';
import type { ClientTls } from '@svc/identity/client-tls';
import type { GatewaySection } from './gateway-section.ts';
import type { RoutedRequests, RoutedToInstance } from './routed-requests.ts';

export interface InstancePoolsOptions {
  readonly routes: RoutedRequests;
  /** Opens connections with mutual TLS; undefined: connections are plain, and instances prove no identity. */
  readonly tls: ClientTls | undefined;
  readonly limits: GatewaySection;
  readonly sweep: Sweep;
  /** Age at which a connection is not used again, in milliseconds. */
  readonly lifetimeMs: () => number;
}

interface InstancePool {
  readonly pool: Pool;
  readonly to: RoutedToInstance;
}

export class InstancePools {
  readonly #options: InstancePoolsOptions;
  readonly #pools = new Map<string, InstancePool>();

  constructor(options: InstancePoolsOptions) {
    this.#options = options;
    options.routes.onTable(() => this.#forgetGone());
  }

  of(to: RoutedToInstance): Pool {
    const { key, identity, instance } = to;
    const id = `${key} ${identity} ${instance.name} ${instance.address} ${instance.port}`;
    const known = this.#pools.get(id);
    if (known !== undefined) return known.pool;
    const pool = this.#open(to);
    this.#pools.set(id, { pool, to });
    return pool;
  }

  /** Closes the idle connections, and the others after their current response. */
  retire(): void {
    for (const { pool } of this.#pools.values()) pool.retire();
  }

  close(): void {
    for (const { pool } of this.#pools.values()) pool.close();
    this.#pools.clear();
  }

  #open(to: RoutedToInstance): Pool {
    const { limits, sweep, lifetimeMs } = this.#options;
    return new Pool({
      connect: this.#connectTo(to),
      limits: DEFAULT_CLIENT_LIMITS,
      times: {
        connectMs: limits.connectTimeoutMs,
        responseMs: limits.answerTimeoutMs,
        idleMs: limits.idleMsMax,
        lifetimeMs,
      },
      sweep,
    });
  }

  #connectTo({ identity, instance: { address: host, port } }: RoutedToInstance): Connect {
    const { tls, limits, sweep } = this.#options;
    return tls === undefined
      ? tcpConnect({ host, port }, limits.connectTimeoutMs, sweep)
      : connectToIdentity(tls, { host, port, expectedId: identity });
  }

  #forgetGone(): void {
    for (const [id, { pool, to }] of this.#pools) {
      if (this.#options.routes.isCurrent(to)) continue;
      pool.retire();
      this.#pools.delete(id);
    }
  }
}
