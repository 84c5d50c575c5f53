// WEBHOOK_ROUTES: the table of the webhook service's routes (document 3, "Endpoints"). Server, OpenAPI and the page of the reference are held
// against it.
import type { ParametersIn, Route } from '../control-plane/route.ts';
import { refusalsWith } from '../control-plane/route.ts';
import { integer, list, text, word } from '../control-plane/schema.ts';
import * as bodies from './bodies.ts';
import {
  DATASET_ID_LENGTH_MAX,
  DELIVERIES_LIMIT_MAX,
  DELIVERY_OUTCOMES,
  TENANT_ID_LENGTH_MAX,
} from './vocabularies.ts';

/** Callers of a route: administrators of the tenant in its path, or the platform. */
export type WebhookCaller = 'tenant-admin' | 'platform';

const TENANT = '/api/platform/v1/tenants/{tenantId}';
const WEBHOOKS = `${TENANT}/webhooks` as const;
const WEBHOOK = `${WEBHOOKS}/{webhookId}` as const;
const DELIVERIES = `${WEBHOOKS}/deliveries` as const;
const DELIVERY = `${DELIVERIES}/{deliveryId}` as const;

export const WEBHOOK_ROUTES = {
  createWebhook: {
    method: 'POST',
    path: WEBHOOKS,
    who: 'tenant-admin',
    summary: 'Creates a subscription',
    description: 'The answer has its secret, which is shown once.',
    body: bodies.subscriptionRequest,
    answer: bodies.subscription,
    success: 201,
    refusals: { 409: 'the tenant has as many subscriptions, or as much in them, as it may' },
  },
  listWebhooks: {
    method: 'GET',
    path: WEBHOOKS,
    who: 'tenant-admin',
    summary: 'Lists the subscriptions',
    answer: list('subscriptions, the oldest first', bodies.subscription),
  },
  listDeliveries: {
    method: 'GET',
    path: DELIVERIES,
    who: 'tenant-admin',
    summary: 'Lists deliveries',
    description:
      'A page has the newest ones first, and `Link` the URL of the next page. `outcome` goes alone or with `subscription`; the other filters go alone.',
    query: {
      outcome: word('only those with this outcome', DELIVERY_OUTCOMES),
      subscription: text('only those of this subscription', { minLength: 1, maxLength: 64 }),
      dataset: text('only those of this dataset', {
        minLength: 1,
        maxLength: DATASET_ID_LENGTH_MAX,
      }),
      eventId: text('only those of this event', { minLength: 1, maxLength: 64 }),
      limit: integer('entries of the page', { minimum: 1, maximum: DELIVERIES_LIMIT_MAX }),
      cursor: text('where the page begins: from the `Link` of the page before', {
        minLength: 1,
        maxLength: 2_048,
      }),
    },
    answer: list('deliveries, the newest first', bodies.logEntry),
  },
  getDelivery: {
    method: 'GET',
    path: DELIVERY,
    who: 'tenant-admin',
    summary: 'Shows a delivery with the body that is sent',
    answer: bodies.logEntryWithBody,
  },
  retryDelivery: {
    method: 'POST',
    path: `${DELIVERY}/retry`,
    who: 'tenant-admin',
    summary: 'Delivers an event again',
    description:
      'It begins with the first attempt; the old attempts stay in the log. With the `Idempotency-Key` of the last retry it begins no further one.',
    answer: bodies.logEntry,
    success: 202,
    refusals: {
      409: 'the delivery is pending, its subscription is deleted, or it has had as many runs as it may',
    },
  },
  getWebhook: {
    method: 'GET',
    path: WEBHOOK,
    who: 'tenant-admin',
    summary: 'Shows a subscription',
    answer: bodies.subscription,
  },
  replaceWebhook: {
    method: 'PUT',
    path: WEBHOOK,
    who: 'tenant-admin',
    summary: 'Replaces what a subscription says',
    description: 'Its id, its secret and when it was created stay.',
    body: bodies.subscriptionRequest,
    answer: bodies.subscription,
    refusals: { 409: 'the subscriptions of the tenant would be larger than they may be' },
  },
  changeWebhook: {
    method: 'PATCH',
    path: WEBHOOK,
    who: 'tenant-admin',
    summary: 'Changes parts of a subscription',
    body: bodies.subscriptionPatch,
    answer: bodies.subscription,
    refusals: { 409: 'the subscriptions of the tenant would be larger than they may be' },
  },
  deleteWebhook: {
    method: 'DELETE',
    path: WEBHOOK,
    who: 'tenant-admin',
    summary: 'Deletes a subscription',
    description: 'Its pending deliveries end when they are due next.',
  },
  rotateSecret: {
    method: 'POST',
    path: `${WEBHOOK}/rotate-secret`,
    who: 'tenant-admin',
    summary: 'Makes another secret',
    description: 'The answer has it, and it is shown once.',
    body: bodies.rotation,
    isBodyOptional: true,
    answer: bodies.subscription,
    refusals: { 409: 'the request was carried out before, and the secret was rotated since' },
  },
  reportDataset: {
    method: 'PUT',
    path: `${TENANT}/datasets/{datasetId}`,
    who: 'platform',
    summary: 'Reports a dataset as it is now',
    description: 'A change to a final status becomes an event.',
    body: bodies.datasetReport,
    answer: bodies.reportAnswer,
    refusals: {
      409: 'a report with this seq or a higher one was made before',
      413: 'the report has more than 65,536 bytes, without spaces between its parts',
    },
  },
  removeTenant: {
    method: 'DELETE',
    path: TENANT,
    who: 'platform',
    summary: 'Removes what a tenant has',
    description: 'Nothing opens its subscriptions any more, and its log is empty.',
  },
} as const satisfies Readonly<Record<string, Route<WebhookCaller>>>;

export type WebhookRouteName = keyof typeof WEBHOOK_ROUTES;

type ParameterName = ParametersIn<(typeof WEBHOOK_ROUTES)[WebhookRouteName]['path']>;

const NO_CONTROLS = String.raw`^[^\u0000-\u001f\u007f-\u009f]*$`;

/** Schemas of all path parameters, by their names. */
export const WEBHOOK_PARAMETERS: Readonly<Record<ParameterName, ReturnType<typeof text>>> = {
  tenantId: text('id of a tenant, without control characters', {
    minLength: 1,
    maxLength: TENANT_ID_LENGTH_MAX,
    pattern: NO_CONTROLS,
  }),
  webhookId: text('id of a subscription', { minLength: 1, maxLength: 64 }),
  deliveryId: text('id of a delivery', { minLength: 1, maxLength: 64 }),
  datasetId: text('id of a dataset, without control characters', {
    minLength: 1,
    maxLength: DATASET_ID_LENGTH_MAX,
    pattern: NO_CONTROLS,
  }),
};

/** Returns every status with which a route refuses, with the reason for it. */
export function webhookRefusalsOf(route: Route<WebhookCaller>): ReadonlyMap<number, string> {
  const needed = route.who === 'platform' ? 'the platform' : 'an administrator of the tenant';
  return refusalsWith(route, {
    program: 'the webhook service',
    forbidden: [`the caller is a member of the tenant, and not ${needed}`],
    notFound: ['it does not exist, or the caller is no member of the tenant'],
  });
}
