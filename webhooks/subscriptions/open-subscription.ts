// OpenSubscription: a subscription as deliveries need it, opened; and the text that is stored of it, sealed. Whoever has one has its secrets: it is
// never stored, logged, or answered.
import type { SubscribableEvent } from '@svc/client';
import { SvcError } from '@svc/kit/svc-error';
import type { StoredSubscription } from '../model/tenant.ts';
import { Filters, type FilteredDataset } from './filters.ts';
import type { Signing, SubscriptionContent } from './subscription-content.ts';
import type { TenantKey } from './tenant-keys.ts';

export interface OpenSubscription {
  readonly id: string;
  readonly revision: number;
  readonly rotation: number;
  readonly createdAtMs: number;
  readonly url: string;
  readonly events: readonly SubscribableEvent[];
  readonly filters: Filters;
  readonly signing: Signing;
  readonly headers: Readonly<Record<string, string>>;
  readonly secret: string;
  /** The secret before the last rotation, and until when deliveries are signed with it, too. */
  readonly previous?: { readonly secret: string; readonly untilMs: number };
}

/** An event for which subscriptions are sought. */
export interface MatchedEvent {
  readonly type: string;
  readonly occurredAtMs: number;
  /** The dataset of an event of datasets. */
  readonly dataset?: FilteredDataset;
  /** The subscription that `webhook.failing` is about, which does not get it. */
  readonly about?: string;
}

/** The part of a subscription that is sealed. */
export interface SealedContent extends SubscriptionContent {
  readonly secret: string;
  readonly previousSecret?: string;
}

export function sealedContent(key: TenantKey, id: string, content: SealedContent): string {
  return key.seal(id, JSON.stringify(content));
}

/** An opened subscription, and the key that has opened it. */
export interface Opened {
  readonly key: TenantKey;
  readonly subscription: OpenSubscription;
}

/** Throws SVC_SUBSCRIPTION_UNREADABLE if the key does not open it, or is missing. */
export function openedWith(
  key: TenantKey | undefined,
  tenantId: string,
  stored: Readonly<StoredSubscription>,
): Opened {
  const { id, revision, rotation, createdAtMs, previousUntilMs: untilMs } = stored;
  const text = key?.open(id, stored.sealed);
  if (key === undefined || text === undefined) throw unreadable(tenantId, id);
  // It is authentic, so it has the form in which it was sealed.
  const content = JSON.parse(text) as SealedContent;
  const { url, events, filters, signing, headers, secret, previousSecret } = content;
  const subscription = {
    id,
    revision,
    rotation,
    createdAtMs,
    url,
    events,
    signing,
    headers,
    secret,
    filters: new Filters(filters),
    ...(previousSecret !== undefined &&
      untilMs !== undefined && { previous: { secret: previousSecret, untilMs } }),
  };
  return { key, subscription };
}

/** Returns the content of an open subscription, as it is sealed again. */
export function contentOf(subscription: OpenSubscription): SealedContent {
  const { url, events, filters, signing, headers, secret, previous } = subscription;
  return {
    url,
    events,
    filters: filters.request,
    signing,
    headers,
    secret,
    ...(previous !== undefined && { previousSecret: previous.secret }),
  };
}

/** Whether a subscription wants events of this type, and existed at this time. A subscription of the same millisecond did. */
export function listensTo(
  { id, events, createdAtMs }: OpenSubscription,
  { type, occurredAtMs, about }: MatchedEvent,
): boolean {
  if (createdAtMs > occurredAtMs || id === about) return false;
  return events.some((event) =>
    event === 'dataset.*' ? type.startsWith('dataset.') : event === type,
  );
}

export function unreadable(tenantId: string, id: string): SvcError {
  return new SvcError(
    'SVC_SUBSCRIPTION_UNREADABLE',
    `Subscription '${id}' of tenant '${tenantId}' cannot be opened: its salt is missing, or what is stored was changed. ` +
      'Restore the journal and the folder of salts from the same backup.',
  );
}
