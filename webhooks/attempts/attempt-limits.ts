// AttemptLimits: how many attempts are under way at the same time, and how many deliveries are in memory.

export interface AttemptLimits {
  /** Attempts of one subscription. */
  readonly subscriptionMax: number;
  /** Attempts of one subscription of which none has ended yet. */
  readonly newSubscriptionMax: number;
  /** Attempts of one subscription whose last one got no answer. */
  readonly silentSubscriptionMax: number;
  /** Attempts of one tenant to one host. */
  readonly hostMax: number;
  readonly tenantMax: number;
  /** Attempts of one tenant for subscriptions whose last one got no answer. */
  readonly silentTenantMax: number;
  /** Attempts of one tenant for subscriptions of which none has ended yet. */
  readonly newTenantMax: number;
  readonly allMax: number;
  /** Attempts of all subscriptions whose last one got no answer. */
  readonly silentMax: number;
  /** Attempts of all subscriptions of which none has ended yet. */
  readonly newMax: number;
  /** Ids of deliveries in memory for one subscription. The others are in the journal. */
  readonly idsMax: number;
  /** Pending deliveries of one subscription; further ones are exhausted at once. */
  readonly backlogMax: number;
}

export const ATTEMPT_LIMITS_DEFAULT: AttemptLimits = {
  subscriptionMax: 16,
  newSubscriptionMax: 1,
  silentSubscriptionMax: 2,
  hostMax: 32,
  tenantMax: 256,
  silentTenantMax: 128,
  newTenantMax: 64,
  allMax: 4_096,
  silentMax: 2_048,
  newMax: 1_024,
  idsMax: 100,
  backlogMax: 1_000_000,
};
