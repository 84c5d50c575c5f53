// AttemptQueue: which delivery is attempted next. Tenants take turns, and within a tenant its subscriptions, so that nobody waits for the
// backlog of another one.
//
// Invariants
// - No more attempts are under way than the limits say: of a subscription, of a tenant to a host, of a tenant, and in all.
// - Subscriptions whose last attempt got no answer, and those of which no attempt has ended yet, have few attempts each, and a part of those
//   of their tenant and of all. So those that do not answer, and those of which nothing is known, never take the slots of those that do.
// - A subscription that may not begin another attempt costs nothing until one ends that it waits for.
import type { AttemptLimits } from './attempt-limits.ts';
import type { DueDelivery } from './due-delivery.ts';

/** The facts that an attempt has shown of its subscription. An absent one is not known. */
export interface Shown {
  /** Host to which the request went. */
  readonly host?: string;
  /** Whether there was no answer, or a slow one, which takes a slot for as long. */
  readonly isSilent?: boolean;
}

/** As its last attempt has shown it; `new`: none has ended yet. */
type Kind = 'answering' | 'silent' | 'new';

/** Attempts under way of the subscriptions of a kind, and those that wait for one to end. */
interface Share<Waiting> {
  underWay: number;
  readonly waiting: Set<Waiting>;
}
/** Also has those of the tenant's subscriptions that wait for a slot of all. */
interface TenantShare extends Share<Subscription> {
  readonly waitingForAll: Set<Subscription>;
}
type OfKinds<Of> = Readonly<Record<Kind, Of>>;

interface Subscription {
  readonly id: string;
  readonly tenant: Tenant;
  readonly due: DueDelivery[];
  host: string;
  underWay: number;
  /** It is in the turns of its tenant, or waits for a slot. */
  state: 'idle' | 'turn' | Obstacle;
  /** Kind of which an attempt has ended, for which it was given the turn. It passes the turn on if it cannot use it. */
  wokenFor: Kind | undefined;
}

/** A subscription waits for a slot of its own, of its host, or of its kind: of the tenant, or of all. */
type Obstacle = 'own' | 'host' | 'tenant' | 'all';

interface Tenant {
  readonly id: string;
  readonly subscriptions: Map<string, Subscription>;
  readonly turns: Set<Subscription>;
  readonly hosts: Map<string, Host>;
  readonly shares: OfKinds<TenantShare>;
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
  readonly kind: Kind;
}

/** Subscriptions of which it is known whether they answered last; the one whose attempt has ended first is forgotten. */
const KNOWN_MAX = 100_000;

export class AttemptQueue {
  readonly #limits: AttemptLimits;
  /** Maximum of attempts for each kind: of a subscription, of a tenant, and of all. */
  readonly #maxima: OfKinds<{ own: number; tenant: number; all: number }>;
  readonly #tenants = new Map<string, Tenant>();
  /** Tenants that have a subscription in turn and may begin an attempt, in the order of their turns. */
  readonly #turns = new Set<Tenant>();
  /** Whether the last attempt of a subscription got no answer, by its id; the last ones to end are at the end. */
  readonly #isSilent = new Map<string, boolean>();
  /** Tenants that have a subscription which waits for a slot take turns, too. */
  readonly #shares = ofKinds((): Share<Tenant> => ({ underWay: 0, waiting: new Set() }));
  readonly #slots = new Map<string, Slots>();

  constructor(limits: AttemptLimits) {
    this.#limits = limits;
    const { tenantMax, silentTenantMax, newTenantMax, allMax, silentMax, newMax } = limits;
    this.#maxima = {
      answering: { own: limits.subscriptionMax, tenant: tenantMax, all: allMax },
      silent: { own: limits.silentSubscriptionMax, tenant: silentTenantMax, all: silentMax },
      new: { own: limits.newSubscriptionMax, tenant: newTenantMax, all: newMax },
    };
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
    this.#releaseShares(tenant, slots.kind);
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
        shares: ofKinds(() => ({ underWay: 0, waiting: new Set(), waitingForAll: new Set() })),
        underWay: 0,
      };
      this.#tenants.set(tenantId, tenant);
    }
    let subscription = tenant.subscriptions.get(id);
    if (subscription === undefined) {
      const none = { due: [], underWay: 0, wokenFor: undefined };
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
      const { wokenFor } = subscription;
      const kind = this.#kindOf(subscription);
      const obstacle = this.#obstacleOf(subscription, kind);
      if (obstacle === undefined) {
        const delivery = this.#begin(subscription, kind);
        // Its last attempt has shown it as of another kind meanwhile.
        if (wokenFor !== undefined && wokenFor !== kind) this.#wake(wokenFor);
        if (tenant.turns.size > 0) this.#turns.add(tenant);
        return delivery;
      }
      subscription.state = obstacle;
      if (obstacle === 'host') hostOf(subscription).waiting.add(subscription);
      if (obstacle === 'tenant') tenant.shares[kind].waiting.add(subscription);
      if (obstacle === 'all') {
        tenant.shares[kind].waitingForAll.add(subscription);
        this.#shares[kind].waiting.add(tenant);
      } else if (wokenFor !== undefined) this.#wake(wokenFor);
      subscription.wokenFor = undefined;
    }
    return undefined;
  }

  #begin(subscription: Subscription, kind: Kind): DueDelivery {
    const { tenant } = subscription;
    const delivery = subscription.due.shift()!;
    const host = hostOf(subscription);
    subscription.wokenFor = undefined;
    subscription.underWay++;
    tenant.underWay++;
    host.underWay++;
    tenant.shares[kind].underWay++;
    this.#shares[kind].underWay++;
    this.#slots.set(delivery.id, { subscription, host: subscription.host, kind });
    subscription.state = 'idle';
    if (subscription.due.length > 0) this.#giveTurn(subscription);
    return delivery;
  }

  #kindOf({ id }: Subscription): Kind {
    const isSilent = this.#isSilent.get(id);
    if (isSilent === undefined) return 'new';
    return isSilent ? 'silent' : 'answering';
  }

  /** Returns the reason for which a subscription has to wait; undefined: it may begin an attempt. */
  #obstacleOf(subscription: Subscription, kind: Kind): Obstacle | undefined {
    const { tenant, underWay } = subscription;
    const max = this.#maxima[kind];
    if (underWay >= max.own) return 'own';
    // A host without attempts is not there, so that a URL that changes leaves nothing behind.
    const ofHost = tenant.hosts.get(subscription.host)?.underWay ?? 0;
    if (ofHost >= this.#limits.hostMax) return 'host';
    if (tenant.shares[kind].underWay >= max.tenant) return 'tenant';
    return this.#shares[kind].underWay >= max.all ? 'all' : undefined;
  }

  #releaseShares(tenant: Tenant, kind: Kind): void {
    const ofTenant = tenant.shares[kind];
    ofTenant.underWay--;
    this.#shares[kind].underWay--;
    for (const waiting of ofTenant.waiting) this.#giveTurn(waiting);
    ofTenant.waiting.clear();
    this.#wake(kind);
  }

  #wake(kind: Kind): void {
    const { waiting: tenants } = this.#shares[kind];
    const [tenant] = tenants;
    if (tenant === undefined) return;
    const { waitingForAll } = tenant.shares[kind];
    const [subscription] = waitingForAll;
    waitingForAll.delete(subscription!);
    tenants.delete(tenant);
    if (waitingForAll.size > 0) tenants.add(tenant);
    subscription!.wokenFor = kind;
    this.#giveTurn(subscription!);
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

function ofKinds<Of>(make: () => Of): OfKinds<Of> {
  return { answering: make(), silent: make(), new: make() };
}

function hostOf({ tenant: { hosts }, host: key }: Subscription): Host {
  const known = hosts.get(key);
  if (known !== undefined) return known;
  const host = { underWay: 0, waiting: new Set<Subscription>() };
  hosts.set(key, host);
  return host;
}
