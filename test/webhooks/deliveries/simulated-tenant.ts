// SimulatedTenant: the production journal of a tenant with its subscriptions, in memory that outlives a crash, and what its administrator does with them.
// It notes which subscriptions there were, and how each was at which time, for the checks of a history.
//
// Invariant: a request that a crash has cut off is repeated with its idempotency key until it is answered.
import type { Subscription } from '@svc/client';
import { createService, type Result, type Service } from '@svc/host';
import { TestJournal, type TestJournalOptions, type VirtualClock } from '@svc/host/testing';
import { removedTenants } from '../../../webhooks/consumers/removed-tenants.ts';
import { SEGMENT_SETTINGS } from '../../../webhooks/segments/segment-settings.ts';
import { tenant } from '../../../webhooks/model/tenant.ts';
import type { Salts } from '../../../webhooks/subscriptions/salts.ts';
import { SubscriptionFlows } from '../../../webhooks/subscriptions/subscription-flows.ts';
import { TenantKeys } from '../../../webhooks/subscriptions/tenant-keys.ts';
import {
  type Call,
  TenantSubscriptions,
} from '../../../webhooks/subscriptions/tenant-subscriptions.ts';
import { keyedCalls } from '../../support/keyed-calls.ts';
import { addresses } from '../subscriptions/checked-requests.ts';

/** A subscription between two of its changes. */
export interface Version {
  readonly url: string;
  readonly secret: string;
  readonly previousSecret: string | undefined;
  /** When the change to it was requested first, and when it was answered. */
  readonly requestedMs: number;
  readonly answeredMs: number;
}

export interface KnownSubscription {
  readonly id: string;
  readonly createdAtMs: number;
  readonly events: readonly string[];
  /** Oldest first. */
  readonly versions: Version[];
  /** When its deletion was requested first, and when it was answered. */
  deletion?: { readonly requestedMs: number; answeredMs: number };
}

/** Carries out a request again and again until it is answered, with restarts between. */
export type UntilAnswered = <Value>(request: () => Promise<Value>) => Promise<Value>;

export class SimulatedTenant {
  readonly known: KnownSubscription[] = [];
  readonly #id: string;
  readonly #clock: VirtualClock;
  readonly #journal: TestJournal;
  readonly #salts = new SimulatedSalts();
  #requests = 0;
  #service: Service | undefined;
  #flows: SubscriptionFlows | undefined;

  constructor(id: string, clock: VirtualClock, options: TestJournalOptions) {
    this.#id = id;
    this.#clock = clock;
    this.#journal = new TestJournal(options);
  }

  /** Starts the service of the tenant. `failed` is called when its journal crashes. */
  async start(failed: () => void): Promise<TenantSubscriptions> {
    const keys = new TenantKeys(Buffer.alloc(32, 'the master key of the tests'), this.#salts);
    const clock = this.#clock;
    const service = await createService({
      name: 'webhooks',
      entities: [tenant],
      consumers: [removedTenants(keys)],
      http: false,
      journal: 'memory',
      log: 'none',
      settings: SEGMENT_SETTINGS,
      testing: { clock, journal: this.#journal },
    });
    void service.failure.then(failed);
    const call: Call = (...of) => service.call(...of);
    const subscriptions = new TenantSubscriptions({ call, keys, clock, log: () => {} });
    this.#service = service;
    this.#flows = new SubscriptionFlows({ subscriptions, keys, addresses, clock });
    return subscriptions;
  }

  /** The power fails: nothing is stored any more. */
  cutOff(): void {
    this.#journal.crash();
  }

  async stop(): Promise<void> {
    await this.#service?.stop(0);
  }

  /** Those that were not deleted. */
  get present(): readonly KnownSubscription[] {
    return this.known.filter(({ deletion }) => deletion === undefined);
  }

  async create(
    { url, events }: { readonly url: string; readonly events: readonly string[] },
    untilAnswered: UntilAnswered,
  ): Promise<void> {
    const requestedMs = this.#clock.nowMs();
    const { id, createdAt, secret } = await this.#answered(untilAnswered, (flows, call) =>
      flows.create(call, this.#id, { url, events }),
    );
    const version = { url, secret: secret!, previousSecret: undefined };
    const answeredMs = this.#clock.nowMs();
    this.known.push({
      id,
      createdAtMs: Date.parse(createdAt),
      events,
      versions: [{ ...version, requestedMs, answeredMs }],
    });
  }

  /** Gives it another path at the same receiver. */
  async move(one: KnownSubscription, untilAnswered: UntilAnswered): Promise<void> {
    const requestedMs = this.#clock.nowMs();
    const former = lastOf(one);
    const url = `${former.url}-moved`;
    await this.#answered(untilAnswered, (flows, call) =>
      flows.patch(call, this.#id, one.id, { url }),
    );
    one.versions.push({ ...former, url, requestedMs, answeredMs: this.#clock.nowMs() });
  }

  async rotate(one: KnownSubscription, untilAnswered: UntilAnswered): Promise<void> {
    const requestedMs = this.#clock.nowMs();
    const { secret } = await this.#answered<Subscription>(untilAnswered, (flows, call) =>
      flows.rotate(call, this.#id, one.id, {}),
    );
    const { url, secret: previousSecret } = lastOf(one);
    const answeredMs = this.#clock.nowMs();
    one.versions.push({ url, secret: secret!, previousSecret, requestedMs, answeredMs });
  }

  async remove(one: KnownSubscription, untilAnswered: UntilAnswered): Promise<void> {
    one.deletion = { requestedMs: this.#clock.nowMs(), answeredMs: Infinity };
    await this.#answered(untilAnswered, (flows, call) => flows.remove(call, this.#id, one.id));
    one.deletion.answeredMs = this.#clock.nowMs();
  }

  async #answered<Value>(
    untilAnswered: UntilAnswered,
    request: (flows: SubscriptionFlows, call: Call) => Promise<Result<Value>>,
  ): Promise<Value> {
    const key = `request-${++this.#requests}`;
    const result = await untilAnswered(() => {
      const service = this.#service!;
      return request(
        this.#flows!,
        keyedCalls((...of) => service.call(...of), key),
      );
    });
    if (!result.isOk) throw new Error(`a request was refused: ${result.code} ${result.message}`);
    return result.value;
  }
}

function lastOf({ versions }: KnownSubscription): Version {
  return versions[versions.length - 1]!;
}

/** Salts that a crash leaves, as those on disk do. */
class SimulatedSalts implements Salts {
  readonly #salts = new Map<string, Uint8Array>();
  #made = 0;

  find(tenantId: string, generation: number): Promise<Uint8Array | undefined> {
    return Promise.resolve(this.#salts.get(`${generation} ${tenantId}`));
  }

  async make(tenantId: string, generation: number): Promise<Uint8Array> {
    const salt =
      (await this.find(tenantId, generation)) ?? Buffer.alloc(32, `salt ${++this.#made}`);
    this.#salts.set(`${generation} ${tenantId}`, salt);
    return salt;
  }

  remove(tenantId: string, generation: number): Promise<void> {
    this.#salts.delete(`${generation} ${tenantId}`);
    return Promise.resolve();
  }
}
