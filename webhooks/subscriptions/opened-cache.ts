// OpenedCache: the opened subscriptions of the tenants that were used last, within a number of bytes.
import type { NameSearches } from './name-searches.ts';
import type { OpenSubscription } from './open-subscription.ts';

/** All subscriptions of a tenant as they were at a version of it. */
export interface OpenedTenant {
  readonly version: number;
  /** When the tenant was removed last. */
  readonly removedAtMs: number | undefined;
  /** Oldest first. */
  readonly subscriptions: readonly OpenSubscription[];
  /** Ids of those that cannot be opened. */
  readonly unreadable: ReadonlySet<string>;
  readonly searches: NameSearches;
  /** Size of all, in bytes, estimated from the sealed texts. */
  readonly bytes: number;
}

export interface KeptTenant {
  readonly opened: OpenedTenant;
  /** Until when, by the monotonic clock, it need not be compared with the entity of the tenant; -Infinity: it is known to have changed. */
  freshUntilMs: number;
}

export class OpenedCache {
  readonly #bytesMax: number;
  #bytes = 0;
  /** By tenant, in the order of their last use. */
  readonly #tenants = new Map<string, KeptTenant>();

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get(tenantId: string): KeptTenant | undefined {
    const found = this.#tenants.get(tenantId);
    if (found !== undefined) {
      this.#tenants.delete(tenantId);
      this.#tenants.set(tenantId, found);
    }
    return found;
  }

  /** Keeps a tenant instead of what was kept of it, unless it is too large; others leave for it, the ones first that were not used for longest. */
  set(tenantId: string, kept: KeptTenant): void {
    this.#remove(tenantId);
    if (kept.opened.bytes > this.#bytesMax) return;
    this.#tenants.set(tenantId, kept);
    this.#bytes += kept.opened.bytes;
    for (const other of this.#tenants.keys()) {
      if (this.#bytes <= this.#bytesMax) break;
      this.#remove(other);
    }
  }

  /** Has a tenant compared with its entity when it is asked for next. */
  expire(tenantId: string): void {
    const kept = this.#tenants.get(tenantId);
    if (kept !== undefined) kept.freshUntilMs = -Infinity;
  }

  #remove(tenantId: string): void {
    this.#bytes -= this.#tenants.get(tenantId)?.opened.bytes ?? 0;
    this.#tenants.delete(tenantId);
  }
}
