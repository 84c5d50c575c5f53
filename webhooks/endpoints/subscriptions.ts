// The routes of subscriptions.
import type { Subscription, SubscriptionPatch, SubscriptionRequest } from '@svc/client';
import { Ok, respond, type EndpointContext, type Result } from '@svc/host';
import type { WebhookHandlers } from './webhook-table.ts';

type Call = EndpointContext['call'];

/** The flows of subscriptions. `call`: that of the request, so that its idempotency key counts. */
export interface SubscriptionFlows {
  create(call: Call, tenant: string, request: unknown): Promise<Result<Subscription>>;
  list(tenant: string): Promise<readonly Subscription[]>;
  get(tenant: string, id: string): Promise<Result<Subscription>>;
  replace(call: Call, tenant: string, id: string, request: unknown): Promise<Result<Subscription>>;
  patch(call: Call, tenant: string, id: string, patch: unknown): Promise<Result<Subscription>>;
  rotate(call: Call, tenant: string, id: string, request: unknown): Promise<Result<Subscription>>;
  remove(call: Call, tenant: string, id: string): Promise<Result<null>>;
  removeTenant(call: Call, tenant: string): Promise<Result<null>>;
}

type SubscriptionRoute =
  | 'createWebhook'
  | 'listWebhooks'
  | 'getWebhook'
  | 'replaceWebhook'
  | 'changeWebhook'
  | 'deleteWebhook'
  | 'rotateSecret'
  | 'removeTenant';

export function subscriptionHandlers(flows: SubscriptionFlows): WebhookHandlers<SubscriptionRoute> {
  return {
    async createWebhook({ input: { tenantId, body }, call }) {
      const created = await flows.create(call, tenantId, body satisfies SubscriptionRequest);
      if (!created.isOk) return created;
      const { id } = created.value;
      const location = `/api/platform/v1/tenants/${encodeURIComponent(tenantId)}/webhooks/${id}`;
      return respond(created.value, { headers: [['location', location]] });
    },
    async listWebhooks({ input: { tenantId } }) {
      return new Ok(await flows.list(tenantId));
    },
    getWebhook: ({ input: { tenantId, webhookId } }) => flows.get(tenantId, webhookId),
    replaceWebhook: ({ input: { tenantId, webhookId, body }, call }) =>
      flows.replace(call, tenantId, webhookId, body satisfies SubscriptionRequest),
    changeWebhook: ({ input: { tenantId, webhookId, body }, call }) =>
      flows.patch(call, tenantId, webhookId, body satisfies SubscriptionPatch),
    deleteWebhook: ({ input: { tenantId, webhookId }, call }) =>
      flows.remove(call, tenantId, webhookId),
    rotateSecret: ({ input: { tenantId, webhookId, body }, call }) =>
      flows.rotate(call, tenantId, webhookId, body),
    removeTenant: ({ input: { tenantId }, call }) => flows.removeTenant(call, tenantId),
  };
}
