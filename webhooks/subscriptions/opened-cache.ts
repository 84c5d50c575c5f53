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
  /** Size of all without the programs of their expressions, in bytes, estimated from the sealed texts. */
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
  /** Size of each tenant, in bytes. */
  readonly #sizes = new Map<string, number>();

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
    const bytes = sizeOf(kept.opened);
    if (bytes > this.#bytesMax) return;
    this.#tenants.set(tenantId, kept);
    this.#sizes.set(tenantId, bytes);
    this.#bytes += bytes;
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

  /** Call it when programs of a tenant's expressions were made. */
  resize(tenantId: string): void {
    const kept = this.#tenants.get(tenantId);
    if (kept !== undefined) this.set(tenantId, kept);
  }

  #remove(tenantId: string): void {
    this.#bytes -= this.#sizes.get(tenantId) ?? 0;
    this.#sizes.delete(tenantId);
    this.#tenants.delete(tenantId);
  }
}

function sizeOf({ bytes, subscriptions }: OpenedTenant): number {
  return subscriptions.reduce((sum, { filters }) => sum + filters.programBytes, bytes);
}
