// The words of the webhook service, and its limits (document 3). The page docs/reference/webhooks.md lists them.

export const DATASET_EVENT_TYPES = [
  'dataset.computed',
  'dataset.invalid',
  'dataset.completed',
  'dataset.incomplete',
  'dataset.failed',
] as const;
export const EVENT_TYPES = [...DATASET_EVENT_TYPES, 'webhook.failing'] as const;
export type EventType = (typeof EVENT_TYPES)[number];
/** `dataset.*` is every event of datasets. */
export const SUBSCRIBABLE_EVENTS = ['dataset.*', ...EVENT_TYPES] as const;
export type SubscribableEvent = (typeof SUBSCRIBABLE_EVENTS)[number];

/** Statuses of a dataset that cause an event, in the order of DATASET_EVENT_TYPES. */
export const DATASET_STATUSES = [
  'DATASET_COMPUTED',
  'DATASET_INVALID',
  'SOLVING_COMPLETED',
  'SOLVING_INCOMPLETE',
  'SOLVING_FAILED',
] as const;
export type DatasetStatus = (typeof DATASET_STATUSES)[number];

export const SIGNING_METHODS = ['hmac-sha256'] as const;
export const SIGNED_PARTS = ['body', 'path'] as const;

export const DELIVERY_OUTCOMES = ['pending', 'delivered', 'exhausted'] as const;
export type DeliveryOutcome = (typeof DELIVERY_OUTCOMES)[number];
/** Reasons for which a delivery ends without its receiver. */
export const DELIVERY_ERRORS = ['subscription_deleted', 'expired', 'backlog_full'] as const;

/** Maximum length of the ids of tenants and datasets. */
export const TENANT_ID_LENGTH_MAX = 255;
export const DATASET_ID_LENGTH_MAX = 255;
/** Maximum length of the name of a dataset, a tag, and other words about a dataset, in characters. */
export const DATASET_WORD_LENGTH_MAX = 256;
export const DATASET_TAGS_MAX = 100;
/** Maximum size of a report, in bytes; a larger one is answered 413. */
export const DATASET_BYTES_MAX = 65_536;
/** Maximum and default of the entries of a page of the delivery log. */
export const DELIVERIES_LIMIT_MAX = 250;
export const DELIVERIES_LIMIT_DEFAULT = 50;
/** Maximum of the seconds for which deliveries are signed with the former secret, too, and what holds without them. */
export const GRACE_SECONDS_MAX = 604_800;
export const GRACE_SECONDS_DEFAULT = 86_400;

/** Returns whether the text can be the id of a tenant: not empty, and without control characters. */
export function isTenantId(value: string): boolean {
  return value !== '' && value.length <= TENANT_ID_LENGTH_MAX && !/\p{Cc}/u.test(value);
}
