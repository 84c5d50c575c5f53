// TenantSubscriptions: the subscriptions of tenants, opened, for those who deliver.
//
// Invariants
// S1  No subscription that was acknowledged is missed, and none that was deleted is used: whoever changes subscriptions calls `changed` before it
//     acknowledges that. A change whose end nobody knows is noticed within five seconds.
// S2  What it keeps in memory is bounded in bytes, and a tenant is read once, however many wait for it.
// S3  However many expensive filters a tenant has, other tenants and everything else get their turn between two searches.
// S4  A subscription that cannot be opened is left out, so that the others of its tenant get their events. Without the salt of the tenant, which opens all of
//     them, nothing is answered, so that its events wait.
import type { EndpointContext, Result } from '@svc/host';
import type { Clock } from '@svc/kit/clock';
import type { Log } from '@svc/kit/log';
import { SvcError } from '@svc/kit/svc-error';
import { tenant } from '../model/tenant.ts';
import type { Filters } from './filters.ts';
import { NameSearches } from './name-searches.ts';
import {
  type MatchedEvent,
  type OpenSubscription,
  listensTo,
  openedWith,
  unreadable,
} from './open-subscription.ts';
import { type KeptTenant, OpenedCache, type OpenedTenant } from './opened-cache.ts';
import { SearchTurns } from './search-turns.ts';
import type { TenantKeys } from './tenant-keys.ts';

/** Returns a client of an entity of the control service: of a request, a consumer, or the service itself. */
export type Call = EndpointContext['call'];

export interface TenantSubscriptionsOptions {
  readonly call: Call;
  readonly keys: TenantKeys;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly log: Log;
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
/** Size of an opened subscription beside its texts and the program of its expression, with what searches have found, in bytes. */
const SUBSCRIPTION_BYTES = 8_192;
const TENANT_BYTES = 512;
/** Time after which what is kept of a tenant is compared with its entity. */
const FRESH_MS = 5_000;
/** Steps of searches in a turn: about two milliseconds. */
const STEPS_A_TURN = 100_000;
/** Steps of searches without a turn, which most events need at most. */
const STEPS_WITHOUT_TURN = 10_000;

/** A tenant that is being read. Once it has changed meanwhile, nobody else waits for this, and it is not kept. */
interface Reading {
  readonly opened: Promise<OpenedTenant>;
  hasChanged: boolean;
}

export class TenantSubscriptions {
  readonly #call: Call;
  readonly #keys: TenantKeys;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #log: Log;
  readonly #cache: OpenedCache;
  /** By tenant. */
  readonly #readings = new Map<string, Reading>();
  readonly #turns = new SearchTurns();

  constructor(options: TenantSubscriptionsOptions) {
    const { call, keys, clock, log, cacheBytesMax = CACHE_BYTES_MAX_DEFAULT } = options;
    this.#call = call;
    this.#keys = keys;
    this.#clock = clock;
    this.#log = log;
    this.#cache = new OpenedCache(cacheBytesMax);
  }

  /** Size of what is kept of opened subscriptions, in bytes. */
  get cacheBytes(): number {
    return this.#cache.bytes;
  }

  /** Call it when a command may have changed the subscriptions of a tenant, before that is acknowledged. */
  changed(tenantId: string): void {
    this.#cache.expire(tenantId);
    const reading = this.#readings.get(tenantId);
    if (reading === undefined) return;
    reading.hasChanged = true;
    this.#readings.delete(tenantId);
  }

  /** Oldest first, without those that cannot be opened. */
  async all(tenantId: string): Promise<readonly OpenSubscription[]> {
    return (await this.#read(tenantId)).subscriptions;
  }

  /** Rejects with SVC_SUBSCRIPTION_UNREADABLE if it cannot be opened. */
  async find(tenantId: string, id: string): Promise<OpenSubscription | undefined> {
    const opened = await this.#read(tenantId);
    if (opened.unreadable.has(id)) throw unreadable(tenantId, id);
    return opened.subscriptions.find((one) => one.id === id);
  }

  /** Those that want the event, oldest first. */
  async matching(tenantId: string, event: MatchedEvent): Promise<readonly OpenSubscription[]> {
    const { subscriptions, searches } = await this.#read(tenantId);
    const listening = subscriptions.filter((one) => listensTo(one, event));
    const { dataset } = event;
    if (dataset === undefined) return listening;
    const { name } = dataset;
    const found: OpenSubscription[] = [];
    let stepsLeft = STEPS_WITHOUT_TURN;
    for (const subscription of listening) {
      const { filters } = subscription;
      const { nameRegex } = filters.request;
      if (!filters.matchesButName(dataset)) continue;
      let isFound = nameRegex === undefined || searches.find(name, nameRegex);
      if (isFound === undefined) {
        const steps = filters.stepsMax(dataset);
        if (steps > stepsLeft) {
          // oxlint-disable-next-line no-await-in-loop -- so that others get their turn
          await this.#turns.next(tenantId);
          stepsLeft = STEPS_A_TURN;
        }
        stepsLeft -= steps;
        this.#prepare(tenantId, filters);
        isFound = filters.isFoundIn(name);
        searches.keep(name, nameRegex!, isFound);
      }
      if (isFound) found.push(subscription);
    }
    return found;
  }

  /** Resolves with how many steps the searches of `matching` may take. Each expression is searched once. */
  async searchSteps(tenantId: string, event: MatchedEvent): Promise<number> {
    const { subscriptions } = await this.#read(tenantId);
    const { dataset } = event;
    if (dataset === undefined) return 0;
    let sum = 0;
    const counted = new Set<string | undefined>();
    for (const subscription of subscriptions) {
      const { filters } = subscription;
      const { nameRegex } = filters.request;
      if (counted.has(nameRegex)) continue;
      if (!listensTo(subscription, event) || !filters.matchesButName(dataset)) continue;
      if (!filters.isPrepared) {
        // oxlint-disable-next-line no-await-in-loop -- so that others get their turn
        await this.#turns.next(tenantId);
        this.#prepare(tenantId, filters);
      }
      counted.add(nameRegex);
      sum += filters.stepsMax(dataset);
    }
    return sum;
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
    return (await this.#read(tenantId)).removedAtMs;
  }

  /** Makes the program of an expression that has none. */
  #prepare(tenantId: string, filters: Filters): void {
    if (filters.isPrepared) return;
    filters.prepare();
    this.#cache.resize(tenantId);
  }

  async #read(tenantId: string): Promise<OpenedTenant> {
    const kept = this.#cache.get(tenantId);
    if (kept !== undefined && this.#clock.monotonicMs() < kept.freshUntilMs) return kept.opened;
    const known = this.#readings.get(tenantId);
    if (known !== undefined) return await known.opened;
    const freshUntilMs = this.#clock.monotonicMs() + FRESH_MS;
    const reading: Reading = { opened: this.#opened(tenantId, kept), hasChanged: false };
    this.#readings.set(tenantId, reading);
    try {
      const opened = await reading.opened;
      if (!reading.hasChanged) this.#cache.set(tenantId, { opened, freshUntilMs });
      return opened;
    } finally {
      if (this.#readings.get(tenantId) === reading) this.#readings.delete(tenantId);
    }
  }

  /** `kept`: subscriptions that need not be opened again if they have not changed. */
  async #opened(tenantId: string, kept: KeptTenant | undefined): Promise<OpenedTenant> {
    if (kept !== undefined) {
      const { version } = valueOf(await this.#call(tenant, tenantId).version());
      if (version === kept.opened.version) return kept.opened;
    }
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop -- again, if the tenant was removed meanwhile
      const opened = await this.#openGeneration(tenantId, kept?.opened);
      if (opened !== undefined) return opened;
    }
  }

  /** Resolves with undefined if the tenant was removed meanwhile, and has other subscriptions. */
  async #openGeneration(
    tenantId: string,
    known: OpenedTenant | undefined,
  ): Promise<OpenedTenant | undefined> {
    const client = this.#call(tenant, tenantId);
    const stored = valueOf(await client.subscriptions());
    const { version, generation, removedAtMs } = stored;
    const before = new Map(known?.subscriptions.map((one) => [one.id, one]));
    const isKnown = ({ id, revision }: { readonly id: string; readonly revision: number }) =>
      before.get(id)?.revision === revision;
    const hasAll = stored.subscriptions.every(isKnown);
    const key = hasAll ? undefined : await this.#keys.find(tenantId, generation);
    if (key === undefined && !hasAll) {
      // The consumer that removes keys may have been faster.
      const now = valueOf(await client.version());
      if (now.generation !== generation) return undefined;
      throw unreadable(tenantId, stored.subscriptions.find((one) => !isKnown(one))!.id);
    }
    let bytes = TENANT_BYTES;
    const subscriptions: OpenSubscription[] = [];
    const failed = new Set<string>();
    for (const one of stored.subscriptions) {
      const { id } = one;
      bytes += SUBSCRIPTION_BYTES + 2 * one.sealed.length;
      if (isKnown(one)) subscriptions.push(before.get(id)!);
      else
        try {
          subscriptions.push(openedWith(key, tenantId, one).subscription);
        } catch (error) {
          if (!(error instanceof SvcError)) throw error;
          failed.add(id);
          if (known?.unreadable.has(id) !== true) this.#report(error);
        }
    }
    const searches = new NameSearches();
    return { version, removedAtMs, subscriptions, unreadable: failed, searches, bytes };
  }

  #report({ code, message }: SvcError): void {
    this.#log({
      level: 'error',
      message: 'a subscription cannot be opened; the others of its tenant get their events',
      fields: { code, error: message },
    });
  }
}

/** Returns the value of a call that is never refused. */
function valueOf<Value>(result: Result<Value>): Value {
  if (!result.isOk) throw new Error(`a tenant refused what it never refuses: ${result.message}`);
  return result.value;
}
