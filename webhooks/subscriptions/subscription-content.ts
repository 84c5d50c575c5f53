// SubscriptionContent: what a tenant decides about a subscription: where its deliveries go, which events it wants, and how they are
// signed. Every field is there; those that a request leaves out have their defaults.
export const DATASET_EVENT_TYPES = [
  'dataset.computed',
  'dataset.invalid',
  'dataset.completed',
  'dataset.incomplete',
  'dataset.failed',
] as const;
export const EVENT_TYPES = [...DATASET_EVENT_TYPES, 'webhook.failing'] as const;
export type EventType = (typeof EVENT_TYPES)[number];
export const SUBSCRIBABLE_EVENTS = ['dataset.*', ...EVENT_TYPES] as const;
export type SubscribableEvent = (typeof SUBSCRIBABLE_EVENTS)[number];
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

export interface FilterRequest {
  readonly status?: DatasetStatus;
  readonly nameRegex?: string;
  readonly tags?: readonly string[];
  readonly model?: string;
}

export interface Signing {
  readonly method: (typeof SIGNING_METHODS)[number];
  readonly over: (typeof SIGNED_PARTS)[number];
}

export interface SubscriptionContent {
  readonly url: string;
  /** Each once. */
  readonly events: readonly SubscribableEvent[];
  readonly filters: FilterRequest;
  readonly signing: Signing;
  readonly headers: Readonly<Record<string, string>>;
}
