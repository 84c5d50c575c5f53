// WebhookRequests: the requests of the page to the webhook service of a tenant. The console sends them with the login of
// the user, so that the access token never reaches the browser. The page can make the requests of REQUESTS and no others.
import {
  ApiError,
  InvalidRequestError,
  NoAnswerError,
  problemsText,
  type DeliveryOutcome,
  type SubscriptionRequest,
  type WebhooksClient,
} from '@svc/client';
import { type Answer, jsonAnswer, refusal } from './answer.ts';

/** The tenant whose webhooks the page shows. */
export interface ConsoleWebhooks {
  /** URL of the installation, for the user. */
  readonly url: string;
  readonly tenant: string;
  /** Reads its token when it is first called, and may reject with an Error whose `code` begins with SVC_. */
  readonly client: WebhooksClient;
}

/** Path that the others are below. A GET of it returns which tenant is chosen, and asks nobody. */
export const WEBHOOKS_PATH = '/api/webhooks';
/** Maximum bytes of a body: more than a subscription may have. */
export const WEBHOOK_BODY_BYTES_MAX = 512 * 1024;

/** Input of a request. */
interface Input {
  readonly tenantId: string;
  /** Id of the subscription or the delivery in the path; empty if the path has none. */
  readonly id: string;
  readonly query: URLSearchParams;
  readonly body: object;
  /** Aborted when the page no longer waits for an answer that only reads. */
  readonly signal: AbortSignal;
}

type Send = (client: WebhooksClient, input: Input) => Promise<unknown>;

const ID = '([A-Za-z0-9_-]{1,64})';
/** Regular expressions of the paths below WEBHOOKS_PATH, each with its methods. */
const REQUESTS: readonly (readonly [RegExp, Readonly<Record<string, Send>>])[] = [
  [
    /^\/subscriptions$/,
    {
      GET: (client, { tenantId, signal }) => client.listWebhooks({ tenantId }, { signal }),
      POST: (client, { tenantId, body }) =>
        client.createWebhook({ tenantId, body: body as SubscriptionRequest }),
    },
  ],
  [
    new RegExp(`^/subscriptions/${ID}$`),
    {
      GET: (client, { tenantId, id, signal }) =>
        client.getWebhook({ tenantId, webhookId: id }, { signal }),
      PUT: (client, { tenantId, id, body }) =>
        client.replaceWebhook({ tenantId, webhookId: id, body: body as SubscriptionRequest }),
      DELETE: (client, { tenantId, id }) => client.deleteWebhook({ tenantId, webhookId: id }),
    },
  ],
  [
    new RegExp(`^/subscriptions/${ID}/rotate-secret$`),
    {
      POST: (client, { tenantId, id, body }) =>
        client.rotateSecret({ tenantId, webhookId: id, body }),
    },
  ],
  [
    /^\/deliveries$/,
    {
      GET: (client, { tenantId, query, signal }) =>
        client.listDeliveries({ tenantId, ...filtersIn(query) }, { signal }),
    },
  ],
  [
    new RegExp(`^/deliveries/${ID}$`),
    {
      GET: (client, { tenantId, id, signal }) =>
        client.getDelivery({ tenantId, deliveryId: id }, { signal }),
    },
  ],
  [
    new RegExp(`^/deliveries/${ID}/retry$`),
    {
      POST: (client, { tenantId, id }) => client.retryDelivery({ tenantId, deliveryId: id }),
    },
  ],
];
const FILTERS = ['outcome', 'subscription', 'dataset', 'eventId', 'cursor'] as const;

/** A request that the page may make: `send` makes it, and never rejects unless the console has a bug. */
export interface WebhookRequest {
  readonly isRead: boolean;
  readonly send: (body: object, signal: AbortSignal) => Promise<Answer>;
}

/** Finds a request by its method and target. Returns the refusal of one that the page may not make. */
export function webhookRequest(
  webhooks: ConsoleWebhooks | undefined,
  method: string,
  target: string,
): WebhookRequest | Answer {
  const [path = '', query = ''] = target.slice(WEBHOOKS_PATH.length).split('?', 2);
  if (path === '') {
    if (method !== 'GET') return notAllowed(['GET']);
    const { tenant = null, url = null } = webhooks ?? {};
    return jsonAnswer(200, { tenant, url });
  }
  const row = REQUESTS.find(([pattern]) => pattern.test(path));
  if (row === undefined) return refusal(404, 'There is nothing at this address of the console.');
  const [pattern, methods] = row;
  const send = Object.hasOwn(methods, method) ? methods[method] : undefined;
  if (send === undefined) return notAllowed(Object.keys(methods));
  if (webhooks === undefined)
    return refusal(404, 'No tenant is chosen. Start the console with --tenant ID.');
  const [, id = ''] = pattern.exec(path)!;
  const { client, tenant: tenantId } = webhooks;
  return {
    isRead: method === 'GET',
    async send(body, signal) {
      try {
        const input = { tenantId, id, query: new URLSearchParams(query), body, signal };
        return jsonAnswer(200, (await send(client, input)) ?? null);
      } catch (error) {
        if (signal.aborted) return refusal(504, 'The page no longer waits for this.');
        return failure(webhooks, error);
      }
    },
  };
}

function notAllowed(methods: readonly string[]): Answer {
  const allow = methods.join(', ');
  return refusal(405, `This address takes ${allow} alone.`, { allow });
}

/** Returns the filters that are given. Whether their values are valid is for the client and the service to say. */
function filtersIn(query: URLSearchParams): {
  readonly [Name in Exclude<(typeof FILTERS)[number], 'outcome'>]?: string;
} & { readonly outcome?: DeliveryOutcome } {
  const given = FILTERS.filter((name) => query.has(name));
  return Object.fromEntries(given.map((name) => [name, query.get(name)!]));
}

/** Returns the answer for a request that has failed, with a reason for the user. Throws an error that is a bug. */
function failure({ url }: ConsoleWebhooks, error: unknown): Answer {
  if (error instanceof ApiError) {
    if (error.status === 401)
      return refusal(401, `${url} does not accept the login: ${error.reason}`);
    return refusal(error.status, error.reason);
  }
  if (error instanceof InvalidRequestError) return refusal(400, problemsText(error.problems));
  if (error instanceof NoAnswerError) {
    const reason = error.message.replace(/^\w+ got no answer: /, '');
    return refusal(502, `The webhook service of ${url} does not answer: ${reason}.`);
  }
  const { code, message } = error as { readonly code?: unknown; readonly message?: string };
  if (typeof code !== 'string' || !code.startsWith('SVC_') || message === undefined) throw error;
  return refusal(code === 'SVC_NOT_LOGGED_IN' ? 401 : 502, message);
}
