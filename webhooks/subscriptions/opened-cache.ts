// OpenedCache: the opened subscriptions of the tenants that were used last, within a number of bytes.
import type { OpenSubscription } from './open-subscription.ts';

/** All subscriptions of a tenant as they were at a version of it. */
export interface OpenedTenant {
  readonly version: number;
  /** Oldest first. */
  readonly subscriptions: readonly OpenSubscription[];
  /** Size of each by its id, in bytes, estimated from the sealed text. */
  readonly sizes: ReadonlyMap<string, number>;
  /** Size of all, in bytes. */
  readonly bytes: number;
}

export class OpenedCache {
  readonly #bytesMax: number;
  #bytes = 0;
  /** By tenant, in the order of their last use. */
  readonly #tenants = new Map<string, OpenedTenant>();

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get(tenantId: string): OpenedTenant | undefined {
    const found = this.#tenants.get(tenantId);
    if (found !== undefined) {
      this.#tenants.delete(tenantId);
      this.#tenants.set(tenantId, found);
    }
    return found;
  }

  /** Keeps a tenant instead of what was kept of it, unless it is too large; others leave for it, the ones first that were not used for longest. */
  set(tenantId: string, opened: OpenedTenant): void {
    this.#remove(tenantId);
    if (opened.bytes > this.#bytesMax) return;
    this.#tenants.set(tenantId, opened);
    this.#bytes += opened.bytes;
    for (const other of this.#tenants.keys()) {
      if (this.#bytes <= this.#bytesMax) break;
      this.#remove(other);
    }
  }

  #remove(tenantId: string): void {
    this.#bytes -= this.#tenants.get(tenantId)?.bytes ?? 0;
    this.#tenants.delete(tenantId);
  }
}
