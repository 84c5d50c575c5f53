// WebhooksClient: a function for each route of the webhook service, made from its table of routes.
import { createApiClient, type ApiCall, type ClientOptions } from '../control-plane/api-client.ts';
import type { Exchanged } from '../control-plane/exchange.ts';
import type { InputOfRoute } from '../control-plane/route.ts';
import type { LogEntry } from './bodies.ts';
import { WEBHOOK_ROUTES, type WebhookRouteName } from './routes.ts';

type Routes = typeof WEBHOOK_ROUTES;

/** Input of a route: path parameters and query parameters by their names, and `body`. */
export type WebhookInputOf<Name extends WebhookRouteName> = InputOfRoute<Routes[Name]>;

/** A page of the delivery log. */
export interface DeliveryPage {
  /** The newest one first. */
  readonly entries: readonly LogEntry[];
  /** `cursor` of the next page; undefined on the last one. */
  readonly cursor: string | undefined;
}

/** A function for each route, which rejects as one of `Client` does. The next page of the log is that of its `cursor`. */
export type WebhooksClient = {
  readonly [Name in WebhookRouteName]: Name extends 'listDeliveries'
    ? ApiCall<Routes[Name], DeliveryPage>
    : ApiCall<Routes[Name]>;
};

/** Creates a client of a webhook service. Throws TypeError for an invalid base URL or time. */
export function createWebhooksClient(options: ClientOptions): WebhooksClient {
  return createApiClient(
    {
      program: 'a webhook service',
      routes: WEBHOOK_ROUTES,
      resultOf: (name, answer) => (name === 'listDeliveries' ? pageOf(answer) : answer.value),
    },
    options,
  ) as unknown as WebhooksClient;
}

function pageOf({ value, headers }: Exchanged): DeliveryPage {
  return { entries: value as readonly LogEntry[], cursor: nextCursor(headers.get('Link')) };
}

/** Returns the cursor of the link to the next page (RFC 8288); undefined without such a link. */
function nextCursor(link: string | null): string | undefined {
  const [, target] = /<([^>]*)>[^,<]*;\s*rel="?next"?/i.exec(link ?? '') ?? [];
  if (target === undefined) return undefined;
  const query = target.indexOf('?');
  return new URLSearchParams(query === -1 ? '' : target.slice(query)).get('cursor') ?? undefined;
}
