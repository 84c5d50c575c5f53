// DeliveryBudgets: how many deliveries the events of each tenant may cause. A budget is filled at an even rate.
//
// Invariant: a tenant whose budget is full has no entry, and at most `tenantsMax` have one.
import type { Clock } from '@svc/kit/clock';

export interface IntakeLimits {
  /** Deliveries of one tenant in a second, on average. */
  readonly deliveriesPerSecondMax: number;
  /** Deliveries that one tenant may cause at once, after a time without any. */
  readonly deliveriesBurstMax: number;
}

export const INTAKE_LIMITS_DEFAULT: IntakeLimits = {
  deliveriesPerSecondMax: 1_000,
  deliveriesBurstMax: 10_000,
};

const MS_PER_S = 1_000;
/** Beyond it the tenant is forgotten whose last event is the oldest. */
const TENANTS_MAX = 100_000;

export class DeliveryBudgets {
  readonly #limits: IntakeLimits;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  /** Tenant → when its budget is full again, by the monotonic clock; least recently used first. */
  readonly #fullAtMs = new Map<string, number>();

  constructor(limits: IntakeLimits, clock: Pick<Clock, 'monotonicMs'>) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /**
   * Takes deliveries, and returns 0. Returns the time in milliseconds until there are enough, in which case nothing is taken. An event with
   * more deliveries than a budget has waits for a full one.
   */
  take(tenant: string, deliveries: number): number {
    const { deliveriesPerSecondMax, deliveriesBurstMax } = this.#limits;
    const nowMs = this.#clock.monotonicMs();
    const eachMs = MS_PER_S / deliveriesPerSecondMax;
    const lackMs = Math.max((this.#fullAtMs.get(tenant) ?? nowMs) - nowMs, 0);
    const takenMs = Math.min(deliveries, deliveriesBurstMax) * eachMs;
    const beyondMs = lackMs + takenMs - deliveriesBurstMax * eachMs;
    if (beyondMs > 0) return beyondMs;
    this.#fullAtMs.delete(tenant);
    if (lackMs + takenMs > 0) this.#fullAtMs.set(tenant, nowMs + lackMs + takenMs);
    if (this.#fullAtMs.size > TENANTS_MAX) {
      const [oldest] = this.#fullAtMs.keys();
      this.#fullAtMs.delete(oldest!);
    }
    return 0;
  }
}
