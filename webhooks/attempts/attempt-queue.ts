// AttemptQueue: which delivery is attempted next. Tenants take turns, and within a tenant its subscriptions, so that nobody waits for the
// backlog of another one.
//
// Invariants
// - No more attempts are under way than the limits say: of a subscription, of a tenant to a host, of a tenant, and in all.
// - Subscriptions whose last attempt got no answer have few attempts each, and half of all: those that do not answer never take the
//   slots of those that do.
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
  /** It is in the turns of its tenant, or waits for a slot of its own, of its host, or of the silent ones. */
  state: 'idle' | 'turn' | 'own' | 'host' | 'silent';
  /** It was given the turn because a silent one has ended, and passes the turn on if it cannot use it. */
  isWoken: boolean;
}

interface Tenant {
  readonly id: string;
  readonly subscriptions: Map<string, Subscription>;
  readonly turns: Set<Subscription>;
  readonly hosts: Map<string, Host>;
  underWay: number;
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

/** Subscriptions of which it is known that they did not answer last, while nothing of them is due. */
const SILENT_KEPT_MAX = 100_000;

export class AttemptQueue {
  readonly #limits: AttemptLimits;
  readonly #tenants = new Map<string, Tenant>();
  /** Tenants that have a subscription in turn and may begin an attempt, in the order of their turns. */
  readonly #turns = new Set<Tenant>();
  /** Ids of the subscriptions whose last attempt got no answer; at most SILENT_KEPT_MAX, the one that was added first gives way. */
  readonly #silent = new Set<string>();
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
    if (slots.isSilent) this.#silentUnderWay--;
    if (shown.host !== undefined) subscription.host = shown.host;
    if (shown.isSilent !== undefined) this.#noteSilence(subscription.id, shown.isSilent);
    for (const waiting of host.waiting) this.#giveTurn(waiting);
    host.waiting.clear();
    if (host.underWay === 0) tenant.hosts.delete(slots.host);
    if (subscription.state === 'own') this.#giveTurn(subscription);
    else if (tenant.turns.size > 0) this.#turns.add(tenant);
    if (slots.isSilent) this.#wakeSilent();
    this.#forget(subscription);
  }

  #subscriptionOf({ tenant: tenantId, subscription: id, host }: DueDelivery): Subscription {
    let tenant = this.#tenants.get(tenantId);
    if (tenant === undefined) {
      const none = { subscriptions: new Map(), turns: new Set<Subscription>(), hosts: new Map() };
      tenant = { id: tenantId, ...none, underWay: 0 };
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
      if (obstacle === 'silent') this.#silentWaiting.add(subscription);
      else if (subscription.isWoken) this.#wakeSilent();
      subscription.isWoken = false;
    }
    return undefined;
  }

  #begin(subscription: Subscription): DueDelivery {
    const { tenant, id } = subscription;
    const isSilent = this.#silent.has(id);
    const delivery = subscription.due.shift()!;
    const host = hostOf(subscription);
    subscription.isWoken = false;
    subscription.underWay++;
    tenant.underWay++;
    host.underWay++;
    if (isSilent) this.#silentUnderWay++;
    this.#slots.set(delivery.id, { subscription, host: subscription.host, isSilent });
    subscription.state = 'idle';
    if (subscription.due.length > 0) this.#giveTurn(subscription);
    return delivery;
  }

  /** Returns what a subscription has to wait for; undefined: it may begin an attempt. */
  #obstacleOf(subscription: Subscription): 'own' | 'host' | 'silent' | undefined {
    const { subscriptionMax, silentSubscriptionMax, hostMax, silentMax } = this.#limits;
    const { id, underWay } = subscription;
    const isSilent = this.#silent.has(id);
    if (underWay >= (isSilent ? silentSubscriptionMax : subscriptionMax)) return 'own';
    if (hostOf(subscription).underWay >= hostMax) return 'host';
    return isSilent && this.#silentUnderWay >= silentMax ? 'silent' : undefined;
  }

  #wakeSilent(): void {
    const [waiting] = this.#silentWaiting;
    if (waiting === undefined) return;
    this.#silentWaiting.delete(waiting);
    waiting.isWoken = true;
    this.#giveTurn(waiting);
  }

  #noteSilence(id: string, isSilent: boolean): void {
    this.#silent.delete(id);
    if (!isSilent) return;
    this.#silent.add(id);
    if (this.#silent.size <= SILENT_KEPT_MAX) return;
    const [first] = this.#silent;
    this.#silent.delete(first!);
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
