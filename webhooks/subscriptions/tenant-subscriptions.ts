// TenantSubscriptions: the subscriptions of tenants, opened, for those who deliver.
//
// Invariants
// S1  It asks the entity of the tenant each time, so that no subscription that was acknowledged is missed, and none that was deleted is used.
// S2  What it keeps in memory is bounded in bytes.
// S3  However many expensive filters a tenant has, others get their turn between them.
import type { EndpointContext, Result } from '@svc/host';
import { tenant } from '../model/tenant.ts';
import {
  type MatchedEvent,
  type OpenSubscription,
  listensTo,
  openedWith,
} from './open-subscription.ts';
import { OpenedCache, type OpenedTenant } from './opened-cache.ts';
import type { TenantKey, TenantKeys } from './tenant-keys.ts';

/** Returns a client of an entity of the control service: of a request, a consumer, or the service itself. */
export type Call = EndpointContext['call'];

export interface TenantSubscriptionsOptions {
  readonly call: Call;
  readonly keys: TenantKeys;
  /** Size of what is kept of opened subscriptions. Default: 64 MiB. */
  readonly cacheBytesMax?: number;
}

/** An exhausted delivery. */
export interface Exhaustion {
  readonly subscriptionId: string;
  readonly deliveryId: string;
  readonly run: number;
  readonly atMs: number;
}

export const CACHE_BYTES_MAX_DEFAULT = 67_108_864;
/** Size of an opened subscription beside its texts, with its regular expression, in bytes. */
const SUBSCRIPTION_BYTES = 8_192;
const TENANT_BYTES = 512;
/** Steps of searches after which others get their turn: about two milliseconds. */
const STEPS_A_TURN = 200_000;

export class TenantSubscriptions {
  readonly #call: Call;
  readonly #keys: TenantKeys;
  readonly #cache: OpenedCache;

  constructor({ call, keys, cacheBytesMax = CACHE_BYTES_MAX_DEFAULT }: TenantSubscriptionsOptions) {
    this.#call = call;
    this.#keys = keys;
    this.#cache = new OpenedCache(cacheBytesMax);
  }

  /** Size of what is kept of opened subscriptions, in bytes. */
  get cacheBytes(): number {
    return this.#cache.bytes;
  }

  /** Oldest first. */
  async all(tenantId: string): Promise<readonly OpenSubscription[]> {
    const { version } = valueOf(await this.#call(tenant, tenantId).version());
    const cached = this.#cache.get(tenantId);
    if (cached?.version === version) return cached.subscriptions;
    const opened = await this.#open(tenantId, cached);
    this.#cache.set(tenantId, opened);
    return opened.subscriptions;
  }

  async find(tenantId: string, id: string): Promise<OpenSubscription | undefined> {
    return (await this.all(tenantId)).find((one) => one.id === id);
  }

  /** Those that want the event, oldest first. */
  async matching(tenantId: string, event: MatchedEvent): Promise<readonly OpenSubscription[]> {
    const found: OpenSubscription[] = [];
    const { dataset } = event;
    let steps = 0;
    for (const subscription of await this.all(tenantId)) {
      if (!listensTo(subscription, event)) continue;
      if (dataset !== undefined) {
        const { filters } = subscription;
        steps += filters.stepsMax(dataset);
        if (steps >= STEPS_A_TURN) {
          // oxlint-disable-next-line no-await-in-loop -- so that others get their turn
          await nextTurn();
          steps = 0;
        }
        if (!filters.matches(dataset)) continue;
      }
      found.push(subscription);
    }
    return found;
  }

  /**
   * Resolves with whether the others get a notice of an exhausted delivery: once in two hours for each failing subscription, if any listens. The same
   * delivery and run get the same answer.
   */
  async grantFailing(tenantId: string, exhaustion: Exhaustion): Promise<boolean> {
    return valueOf(await this.#call(tenant, tenantId).grantFailing({ ...exhaustion }));
  }

  /** Resolves with the time of the last removal: nobody sees what was before. */
  async removedAtMs(tenantId: string): Promise<number | undefined> {
    return valueOf(await this.#call(tenant, tenantId).version()).removedAtMs;
  }

  /** `known`: subscriptions that need not be opened again if they have not changed. */
  async #open(tenantId: string, known: OpenedTenant | undefined): Promise<OpenedTenant> {
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop -- again, if the tenant was removed meanwhile
      const opened = await this.#openGeneration(tenantId, known);
      if (opened !== undefined) return opened;
    }
  }

  /** Resolves with undefined if the tenant was removed meanwhile, and has other subscriptions. */
  async #openGeneration(
    tenantId: string,
    known: OpenedTenant | undefined,
  ): Promise<OpenedTenant | undefined> {
    const client = this.#call(tenant, tenantId);
    const index = valueOf(await client.subscriptions());
    const { version, generation } = index;
    const sizes = new Map<string, number>();
    const subscriptions: OpenSubscription[] = [];
    let key: TenantKey | undefined;
    for (const { id, revision } of index.subscriptions) {
      const before = known?.subscriptions.find((one) => one.id === id);
      if (before?.revision === revision) {
        subscriptions.push(before);
        sizes.set(id, known?.sizes.get(id) ?? 0);
        continue;
      }
      // oxlint-disable-next-line no-await-in-loop -- each is large, and one at a time is enough
      const found = await client.subscription({ id });
      // It was deleted meanwhile.
      if (!found.isOk) continue;
      if (found.value.generation !== generation) return undefined;
      // oxlint-disable-next-line no-await-in-loop -- once
      key ??= await this.#keys.find(tenantId, generation);
      const stored = found.value.subscription;
      subscriptions.push(openedWith(key, tenantId, stored).subscription);
      sizes.set(id, SUBSCRIPTION_BYTES + 2 * stored.sealed.length);
    }
    const bytes = sizes.values().reduce((sum, size) => sum + size, TENANT_BYTES);
    return { version, subscriptions, sizes, bytes };
  }
}

/** Returns the value of a call that is never refused. */
function valueOf<Value>(result: Result<Value>): Value {
  if (!result.isOk) throw new Error(`a tenant refused what it never refuses: ${result.message}`);
  return result.value;
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
