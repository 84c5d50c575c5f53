// AttemptQueue: which delivery is attempted next. Tenants take turns, and within a tenant its subscriptions, so that nobody waits for the
// backlog of another one.
//
// Invariants
// - No more attempts are under way than the limits say: of a subscription, of a tenant to a host, of a tenant, and in all.
// - Subscriptions whose last attempt got no answer have few attempts each, half of those of their tenant, and half of all. One of which no
//   attempt has ended has one. So those that do not answer never take the slots of those that do.
// - A subscription that may not begin another attempt costs nothing until one ends that it waits for.
import type { AttemptLimits } from './attempt-limits.ts';
import type { DueDelivery } from './due-delivery.ts';

/** The facts that an attempt has shown of its subscription. An absent one is not known. */
export interface Shown {
  /** Host to which the request went. */
  readonly host?: string;
  /** Whether there was no answer. */
  readonly isSilent?: boolean;
}

interface Subscription {
  readonly id: string;
  readonly tenant: Tenant;
  readonly due: DueDelivery[];
  host: string;
  underWay: number;
  /** It is in the turns of its tenant, or waits for a slot: of its own, of its host, of the silent ones of its tenant, or of all silent ones. */
  state: 'idle' | 'turn' | 'own' | 'host' | 'tenant' | 'silent';
  /** It was given the turn because a silent one has ended, and passes the turn on if it cannot use it. */
  isWoken: boolean;
}

interface Tenant {
  readonly id: string;
  readonly subscriptions: Map<string, Subscription>;
  readonly turns: Set<Subscription>;
  readonly hosts: Map<string, Host>;
  readonly silentWaiting: Set<Subscription>;
  underWay: number;
  silentUnderWay: number;
}

interface Host {
  underWay: number;
  readonly waiting: Set<Subscription>;
}

/** The slots that an attempt under way takes, as its subscription was when it began. */
interface Slots {
  readonly subscription: Subscription;
  readonly host: string;
  readonly isSilent: boolean;
}

/** Subscriptions of which it is known whether they answered last; the one whose attempt has ended first is forgotten. */
const KNOWN_MAX = 100_000;

export class AttemptQueue {
  readonly #limits: AttemptLimits;
  readonly #tenants = new Map<string, Tenant>();
  /** Tenants that have a subscription in turn and may begin an attempt, in the order of their turns. */
  readonly #turns = new Set<Tenant>();
  /** Whether the last attempt of a subscription got no answer, by its id; the last ones to end are at the end. */
  readonly #isSilent = new Map<string, boolean>();
  readonly #silentWaiting = new Set<Subscription>();
  readonly #slots = new Map<string, Slots>();
  #silentUnderWay = 0;

  constructor(limits: AttemptLimits) {
    this.#limits = limits;
  }

  /** Number of attempts under way. */
  get underWay(): number {
    return this.#slots.size;
  }

  /** Adds a delivery whose attempt is due. Its id must be neither in the queue nor under way. */
  add(delivery: DueDelivery): void {
    const subscription = this.#subscriptionOf(delivery);
    subscription.due.push(delivery);
    if (subscription.state === 'idle') this.#giveTurn(subscription);
  }

  /** Takes the delivery whose attempt is to begin; undefined: none may. Its slots are taken until `release`. */
  take(): DueDelivery | undefined {
    while (this.#slots.size < this.#limits.allMax) {
      const [tenant] = this.#turns;
      if (tenant === undefined) return undefined;
      this.#turns.delete(tenant);
      const delivery = this.#takeOf(tenant);
      if (delivery !== undefined) return delivery;
    }
    return undefined;
  }

  /** Gives back the slots of an attempt. */
  release(id: string, shown: Shown): void {
    const slots = this.#slots.get(id);
    if (slots === undefined) return;
    this.#slots.delete(id);
    const { subscription } = slots;
    const { tenant } = subscription;
    const host = tenant.hosts.get(slots.host)!;
    subscription.underWay--;
    tenant.underWay--;
    host.underWay--;
    if (shown.host !== undefined) subscription.host = shown.host;
    if (shown.isSilent !== undefined) this.#noteSilence(subscription.id, shown.isSilent);
    for (const waiting of host.waiting) this.#giveTurn(waiting);
    host.waiting.clear();
    if (host.underWay === 0) tenant.hosts.delete(slots.host);
    if (subscription.state === 'own') this.#giveTurn(subscription);
    else if (tenant.turns.size > 0) this.#turns.add(tenant);
    if (slots.isSilent) this.#releaseSilent(tenant);
    this.#forget(subscription);
  }

  #subscriptionOf({ tenant: tenantId, subscription: id, host }: DueDelivery): Subscription {
    let tenant = this.#tenants.get(tenantId);
    if (tenant === undefined) {
      tenant = {
        id: tenantId,
        subscriptions: new Map(),
        turns: new Set(),
        hosts: new Map(),
        silentWaiting: new Set(),
        underWay: 0,
        silentUnderWay: 0,
      };
      this.#tenants.set(tenantId, tenant);
    }
    let subscription = tenant.subscriptions.get(id);
    if (subscription === undefined) {
      const none = { due: [], underWay: 0, isWoken: false };
      subscription = { id, tenant, host, state: 'idle', ...none };
      tenant.subscriptions.set(id, subscription);
    }
    return subscription;
  }

  #giveTurn(subscription: Subscription): void {
    subscription.state = 'turn';
    subscription.tenant.turns.add(subscription);
    this.#turns.add(subscription.tenant);
  }

  #takeOf(tenant: Tenant): DueDelivery | undefined {
    // Without a slot it gets its turn when one of its attempts ends.
    if (tenant.underWay >= this.#limits.tenantMax) return undefined;
    for (const subscription of tenant.turns) {
      tenant.turns.delete(subscription);
      const obstacle = this.#obstacleOf(subscription);
      if (obstacle === undefined) {
        const delivery = this.#begin(subscription);
        if (tenant.turns.size > 0) this.#turns.add(tenant);
        return delivery;
      }
      subscription.state = obstacle;
      if (obstacle === 'host') hostOf(subscription).waiting.add(subscription);
      if (obstacle === 'tenant') tenant.silentWaiting.add(subscription);
      if (obstacle === 'silent') this.#silentWaiting.add(subscription);
      else if (subscription.isWoken) this.#wakeSilent();
      subscription.isWoken = false;
    }
    return undefined;
  }

  #begin(subscription: Subscription): DueDelivery {
    const { tenant, id } = subscription;
    const isSilent = this.#isSilent.get(id) === true;
    const delivery = subscription.due.shift()!;
    const host = hostOf(subscription);
    subscription.isWoken = false;
    subscription.underWay++;
    tenant.underWay++;
    host.underWay++;
    if (isSilent) {
      tenant.silentUnderWay++;
      this.#silentUnderWay++;
    }
    this.#slots.set(delivery.id, { subscription, host: subscription.host, isSilent });
    subscription.state = 'idle';
    if (subscription.due.length > 0) this.#giveTurn(subscription);
    return delivery;
  }

  /** Returns what a subscription has to wait for; undefined: it may begin an attempt. */
  #obstacleOf(subscription: Subscription): 'own' | 'host' | 'tenant' | 'silent' | undefined {
    const { hostMax, silentTenantMax, silentMax } = this.#limits;
    const { id, tenant, underWay } = subscription;
    const isSilent = this.#isSilent.get(id);
    if (underWay >= this.#ownMax(isSilent)) return 'own';
    if (hostOf(subscription).underWay >= hostMax) return 'host';
    if (isSilent !== true) return undefined;
    if (tenant.silentUnderWay >= silentTenantMax) return 'tenant';
    return this.#silentUnderWay >= silentMax ? 'silent' : undefined;
  }

  /** `isSilent`: undefined: no attempt has ended yet. */
  #ownMax(isSilent: boolean | undefined): number {
    const { subscriptionMax, newSubscriptionMax, silentSubscriptionMax } = this.#limits;
    if (isSilent === undefined) return newSubscriptionMax;
    return isSilent ? silentSubscriptionMax : subscriptionMax;
  }

  #releaseSilent(tenant: Tenant): void {
    tenant.silentUnderWay--;
    this.#silentUnderWay--;
    for (const waiting of tenant.silentWaiting) this.#giveTurn(waiting);
    tenant.silentWaiting.clear();
    this.#wakeSilent();
  }

  #wakeSilent(): void {
    const [waiting] = this.#silentWaiting;
    if (waiting === undefined) return;
    this.#silentWaiting.delete(waiting);
    waiting.isWoken = true;
    this.#giveTurn(waiting);
  }

  #noteSilence(id: string, isSilent: boolean): void {
    this.#isSilent.delete(id);
    this.#isSilent.set(id, isSilent);
    if (this.#isSilent.size <= KNOWN_MAX) return;
    const [first] = this.#isSilent.keys();
    this.#isSilent.delete(first!);
  }

  #forget({ id, tenant, state, underWay }: Subscription): void {
    if (state !== 'idle' || underWay > 0) return;
    tenant.subscriptions.delete(id);
    if (tenant.subscriptions.size === 0) this.#tenants.delete(tenant.id);
  }
}

function hostOf({ tenant: { hosts }, host: key }: Subscription): Host {
  const known = hosts.get(key);
  if (known !== undefined) return known;
  const host = { underWay: 0, waiting: new Set<Subscription>() };
  hosts.set(key, host);
  return host;
}
