// WebhooksApi: the requests of the page for the webhooks of a tenant. The console's server sends them on with the login
// of the user.
import type {
  DeliveryPage,
  LogEntry,
  LogEntryWithBody,
  Subscription,
  SubscriptionRequest,
} from '@svc/client';
import { getJson, sendJson, type ApiProblem } from './api.ts';
import { deliveryQuery, type DeliveriesView } from './webhooks-route.ts';
import { visibleText } from './view/visible-text.ts';

/** The tenant that is chosen; null: none is. */
export interface WebhookTarget {
  readonly tenant: string | null;
  /** URL of the installation. */
  readonly url: string | null;
}

export const TARGET_PATH = '/api/webhooks';
export const SUBSCRIPTIONS_PATH = `${TARGET_PATH}/subscriptions`;
const DELIVERIES_PATH = `${TARGET_PATH}/deliveries`;

export function subscriptionPath(id: string): string {
  return `${SUBSCRIPTIONS_PATH}/${encodeURIComponent(id)}`;
}

export function deliveriesPath({ filter, after }: DeliveriesView): string {
  const query = deliveryQuery(filter);
  if (after !== undefined) query.set('cursor', after);
  return query.size === 0 ? DELIVERIES_PATH : `${DELIVERIES_PATH}?${query}`;
}

export function deliveryPath(id: string): string {
  return `${DELIVERIES_PATH}/${encodeURIComponent(id)}`;
}

export function listSubscriptions(signal: AbortSignal): Promise<readonly Subscription[]> {
  return getJson(SUBSCRIPTIONS_PATH, signal);
}

export function listDeliveries(view: DeliveriesView, signal: AbortSignal): Promise<DeliveryPage> {
  return getJson(deliveriesPath(view), signal);
}

export function getDelivery(id: string, signal: AbortSignal): Promise<LogEntryWithBody> {
  return getJson(deliveryPath(id), signal);
}

/** Creates a subscription, or replaces that with the id. Resolves with the subscription, which has its secret if it is new. */
export function saveSubscription(
  id: string | undefined,
  request: SubscriptionRequest,
  signal: AbortSignal,
): Promise<Subscription> {
  return id === undefined
    ? sendJson('POST', SUBSCRIPTIONS_PATH, request, signal)
    : sendJson('PUT', subscriptionPath(id), request, signal);
}

export async function deleteSubscription(id: string, signal: AbortSignal): Promise<void> {
  await sendJson('DELETE', subscriptionPath(id), {}, signal);
}

/** Resolves with the subscription and its new secret. */
export function rotateSecret(
  id: string,
  gracePeriodSeconds: number,
  signal: AbortSignal,
): Promise<Subscription> {
  return sendJson('POST', `${subscriptionPath(id)}/rotate-secret`, { gracePeriodSeconds }, signal);
}

export function retryDelivery(id: string, signal: AbortSignal): Promise<LogEntry> {
  return sendJson('POST', `${deliveryPath(id)}/retry`, {}, signal);
}

/** Returns the reason of a failed request, as the console's server or the webhook service words it. */
export function webhookProblemText({ status, message }: ApiProblem): string {
  if (status === 0) return 'The console does not answer. Start it again: npx svc console';
  return visibleText(message);
}
