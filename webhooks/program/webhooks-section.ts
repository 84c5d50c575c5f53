// WebhooksSection: the settings svc.webhooks.* that are numbers and lists, with their defaults and ranges, from which
// docs/reference/settings.md is generated.
import type { Range } from '@svc/kit/settings-reader';
import { DELIVERY_LIMITS_DEFAULT, type DeliveryLimits } from '../deliveries.ts';

export interface WebhooksSection {
  /** Port of the API; 0 takes a free one. */
  readonly port: number;
  /** Requests of one administrator of a tenant in a minute; further ones are answered 429. 0: no limit. Those of the platform have none. */
  readonly requestsPerMinuteMax: number;
  /** Requests of one administrator of a tenant in a minute that create, change or delete subscriptions, or make another secret, which also count as requests; further ones are answered 429. 0: no limit. */
  readonly writesPerMinuteMax: number;
  /** Networks of receivers that are admitted although they are not of the internet, such as 10.1.0.0/16 or fd00::/8. */
  readonly admittedNetworks: readonly string[];
  /** Domains whose hosts, and all below them, are admitted as receivers whatever their addresses are, such as hooks.example.com. */
  readonly admittedDomains: readonly string[];
  /** Attempts of one subscription at the same time. */
  readonly attemptsPerSubscriptionMax: number;
  /** Attempts at the same time of one subscription of which none has ended yet. */
  readonly attemptsPerNewSubscriptionMax: number;
  /** Attempts at the same time of one subscription whose last attempt got no answer, or one after more than 2.5 seconds. */
  readonly attemptsPerSilentSubscriptionMax: number;
  /** Attempts of one tenant to one host at the same time. */
  readonly attemptsPerHostMax: number;
  /** Attempts of one tenant at the same time. */
  readonly attemptsPerTenantMax: number;
  /** Attempts of one tenant at the same time for subscriptions whose last attempt got no answer, or one after more than 2.5 seconds. */
  readonly silentAttemptsPerTenantMax: number;
  /** Attempts of one tenant at the same time for subscriptions of which none has ended yet. */
  readonly newAttemptsPerTenantMax: number;
  /** Attempts at the same time. Each one takes a connection. */
  readonly attemptsMax: number;
  /** Attempts at the same time of all subscriptions whose last attempt got no answer, or one after more than 2.5 seconds. */
  readonly silentAttemptsMax: number;
  /** Attempts at the same time of all subscriptions of which none has ended yet. */
  readonly newAttemptsMax: number;
  /** Ids of pending deliveries of one subscription in memory; the others are in the journal. */
  readonly idsInMemoryMax: number;
  /** Pending deliveries of one subscription; further ones are logged as exhausted, with the error backlog_full. */
  readonly backlogMax: number;
  /** Deliveries of one tenant in a second, on average; a report that would cause more is answered 429. */
  readonly deliveriesPerSecondMax: number;
  /** Deliveries that one tenant may cause at once, after a time without any. */
  readonly deliveriesBurstMax: number;
  /** Bodies of events in memory, in bytes. */
  readonly bodiesBytesMax: number;
  /** Time for requests in flight to finish after SIGTERM, in milliseconds. Attempts in progress are awaited, too, for the five seconds that they may take. */
  readonly stopTimeoutMs: number;
}

export const WEBHOOKS_DEFAULTS: {
  readonly [Key in keyof WebhooksSection]: WebhooksSection[Key];
} = {
  port: 7643,
  requestsPerMinuteMax: 600,
  writesPerMinuteMax: 60,
  admittedNetworks: [],
  admittedDomains: [],
  attemptsPerSubscriptionMax: DELIVERY_LIMITS_DEFAULT.subscriptionMax,
  attemptsPerNewSubscriptionMax: DELIVERY_LIMITS_DEFAULT.newSubscriptionMax,
  attemptsPerSilentSubscriptionMax: DELIVERY_LIMITS_DEFAULT.silentSubscriptionMax,
  attemptsPerHostMax: DELIVERY_LIMITS_DEFAULT.hostMax,
  attemptsPerTenantMax: DELIVERY_LIMITS_DEFAULT.tenantMax,
  silentAttemptsPerTenantMax: DELIVERY_LIMITS_DEFAULT.silentTenantMax,
  newAttemptsPerTenantMax: DELIVERY_LIMITS_DEFAULT.newTenantMax,
  attemptsMax: DELIVERY_LIMITS_DEFAULT.allMax,
  silentAttemptsMax: DELIVERY_LIMITS_DEFAULT.silentMax,
  newAttemptsMax: DELIVERY_LIMITS_DEFAULT.newMax,
  idsInMemoryMax: DELIVERY_LIMITS_DEFAULT.idsMax,
  backlogMax: DELIVERY_LIMITS_DEFAULT.backlogMax,
  deliveriesPerSecondMax: DELIVERY_LIMITS_DEFAULT.deliveriesPerSecondMax,
  deliveriesBurstMax: DELIVERY_LIMITS_DEFAULT.deliveriesBurstMax,
  bodiesBytesMax: DELIVERY_LIMITS_DEFAULT.bodiesBytesMax,
  stopTimeoutMs: 10_000,
};

export const WEBHOOKS_RANGES: { readonly [Key in keyof WebhooksSection]: Range } = {
  port: [0, 65_535],
  requestsPerMinuteMax: [0, 1_000_000],
  writesPerMinuteMax: [0, 1_000_000],
  admittedNetworks: [0, 100],
  admittedDomains: [0, 100],
  attemptsPerSubscriptionMax: [1, 10_000],
  attemptsPerNewSubscriptionMax: [1, 10_000],
  attemptsPerSilentSubscriptionMax: [1, 10_000],
  attemptsPerHostMax: [1, 10_000],
  attemptsPerTenantMax: [1, 10_000],
  silentAttemptsPerTenantMax: [1, 10_000],
  newAttemptsPerTenantMax: [1, 10_000],
  attemptsMax: [1, 100_000],
  silentAttemptsMax: [1, 100_000],
  newAttemptsMax: [1, 100_000],
  idsInMemoryMax: [1, 1_000_000],
  backlogMax: [1, 100_000_000],
  deliveriesPerSecondMax: [1, 1_000_000],
  deliveriesBurstMax: [1, 10_000_000],
  bodiesBytesMax: [0, 1_073_741_824],
  stopTimeoutMs: [0, 86_400_000],
};

/** Returns the limits that the settings say. */
export function deliveryLimits(section: WebhooksSection): DeliveryLimits {
  return {
    subscriptionMax: section.attemptsPerSubscriptionMax,
    newSubscriptionMax: section.attemptsPerNewSubscriptionMax,
    silentSubscriptionMax: section.attemptsPerSilentSubscriptionMax,
    hostMax: section.attemptsPerHostMax,
    tenantMax: section.attemptsPerTenantMax,
    silentTenantMax: section.silentAttemptsPerTenantMax,
    newTenantMax: section.newAttemptsPerTenantMax,
    allMax: section.attemptsMax,
    silentMax: section.silentAttemptsMax,
    newMax: section.newAttemptsMax,
    idsMax: section.idsInMemoryMax,
    backlogMax: section.backlogMax,
    deliveriesPerSecondMax: section.deliveriesPerSecondMax,
    deliveriesBurstMax: section.deliveriesBurstMax,
    bodiesBytesMax: section.bodiesBytesMax,
  };
}
