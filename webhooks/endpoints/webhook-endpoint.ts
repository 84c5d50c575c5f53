// WebhookEndpoint: the routes of the webhook service with their checks and handlers.
import { apiRoutes } from '@svc/api/api-routes';
import { WEBHOOK_ROUTES, type WebhookCaller, type WebhookRouteName } from '@svc/client';
import {
  defineEndpoint,
  type CheckedRoutes,
  type EndpointDefinition,
  type Refused,
} from '@svc/host';
import { type AnsweringDeliveries, deliveryHandlers } from './deliveries.ts';
import { type SubscriptionFlows, subscriptionHandlers } from './subscriptions.ts';
import { type GivenRequest, type Givens, webhookTable } from './webhook-table.ts';

/** Makes routes for callers of a kind. `write`: the journal of the tenants keeps for good what they change. */
export type CheckedFor = (who: WebhookCaller, kind: 'read' | 'write') => CheckedRoutes<unknown>;

/** A retry of a delivery is none: its runs are bounded, and its segment is removed. */
const WRITES: ReadonlySet<WebhookRouteName> = new Set([
  'createWebhook',
  'replaceWebhook',
  'changeWebhook',
  'deleteWebhook',
  'rotateSecret',
]);

export interface WebhookEndpointParts {
  readonly flows: SubscriptionFlows;
  /** Resolves once deliveries have begun. No route is handled before. */
  readonly deliveries: () => Promise<AnsweringDeliveries>;
  readonly checkedFor: CheckedFor;
  readonly maySucceedLater: (refused: Refused) => boolean;
}

export function webhookEndpoint({
  flows,
  checkedFor,
  maySucceedLater,
  deliveries,
}: WebhookEndpointParts): EndpointDefinition {
  const handlers = { ...subscriptionHandlers(flows), ...deliveryHandlers(deliveries) };
  return defineEndpoint({
    name: 'webhooks',
    prefix: '',
    access: 'internet',
    routes: apiRoutes<typeof WEBHOOK_ROUTES, Givens>(
      webhookTable(maySucceedLater),
      handlers,
      (name) =>
        checkedFor(WEBHOOK_ROUTES[name].who, WRITES.has(name) ? 'write' : 'read').before(
          async ({ header }): Promise<GivenRequest> => {
            await deliveries();
            return { idempotencyKey: header('idempotency-key') };
          },
        ),
    ),
  });
}
