// WebhookTable: the table of @svc/client with what its routes share, and handlers by the names of its routes.
import type { ApiHandlers } from '@svc/api/api-routes';
import type { ApiTable } from '@svc/api/api-table';
import {
  schemaProblems,
  WEBHOOK_PARAMETERS,
  WEBHOOK_ROUTES,
  webhookRefusalsOf,
  type WebhookRouteName,
} from '@svc/client';
import type { Refused } from '@svc/host';

/** Parts of a request that handlers are given beside its input. */
export interface GivenRequest {
  /** The calls of its context have it already; deliveries are entities of other services. */
  readonly idempotencyKey: string | undefined;
}

export type Givens = Readonly<Record<WebhookRouteName, GivenRequest>>;
export type AllHandlers = ApiHandlers<typeof WEBHOOK_ROUTES, Givens>;
/** Handlers of some routes. */
export type WebhookHandlers<Names extends WebhookRouteName> = Pick<AllHandlers, Names>;

/** `maySucceedLater`: whether a request that is refused so has done nothing, and may be sent again (503). */
export function webhookTable(
  maySucceedLater: (refused: Refused) => boolean,
): ApiTable<typeof WEBHOOK_ROUTES> {
  return {
    routes: WEBHOOK_ROUTES,
    parameters: WEBHOOK_PARAMETERS,
    // The flows of subscriptions check their bodies, since a part of that depends on the settings.
    bodyProblems: (name, body) =>
      name === 'reportDataset' ? schemaProblems(WEBHOOK_ROUTES.reportDataset.body, body) : [],
    refusalsOf: webhookRefusalsOf,
    maySucceedLater,
  };
}
