// The routes of the delivery log, and of the reports that cause deliveries.
import {
  DATASET_BYTES_MAX,
  DELIVERIES_LIMIT_DEFAULT,
  type DatasetReport,
  type LogEntry,
  type LogEntryWithBody,
  type ReportAnswer,
} from '@svc/client';
import { refuse, respond, respondError, type Refused, type Result } from '@svc/host';
import type { LogPage, LogQuery } from '../log/delivery-log.ts';
import type { WebhookHandlers } from './webhook-table.ts';

/** The deliveries, as far as routes use them. */
export interface AnsweringDeliveries {
  readonly log: {
    list(tenant: string, query: LogQuery): Promise<Result<LogPage>>;
    entry(tenant: string, id: string): Promise<Result<LogEntryWithBody>>;
    retry(tenant: string, id: string, key?: string): Promise<Result<LogEntry>>;
  };
  readonly intake: {
    report(tenant: string, dataset: string, report: DatasetReport): Promise<Result<ReportAnswer>>;
  };
}

type DeliveryRoute = 'listDeliveries' | 'getDelivery' | 'retryDelivery' | 'reportDataset';

const FILTERS = ['outcome', 'subscription', 'dataset', 'eventId'] as const;
const FILTERS_TOGETHER =
  'the filters outcome, subscription, dataset and eventId go alone; only outcome goes with subscription';

/** `deliveries`: resolves once they have begun. */
export function deliveryHandlers(
  deliveries: () => Promise<AnsweringDeliveries>,
): WebhookHandlers<DeliveryRoute> {
  return {
    async listDeliveries({ input: { tenantId, ...query } }) {
      const given = FILTERS.filter((name) => query[name] !== undefined);
      if (given.length > 1 && given.join(' ') !== 'outcome subscription')
        return refuse(FILTERS_TOGETHER, 'BAD_REQUEST');
      const { limit = DELIVERIES_LIMIT_DEFAULT } = query;
      const { log } = await deliveries();
      const page = await log.list(tenantId, { ...query, limit });
      if (!page.isOk) return page;
      const { entries, cursor } = page.value;
      if (cursor === undefined) return respond(entries);
      const next = new URLSearchParams([
        ...given.map((name) => [name, query[name]!]),
        ['limit', String(limit)],
        ['cursor', cursor],
      ]);
      // The URL of the request is its base (RFC 8288, section 3.1).
      return respond(entries, { headers: [['link', `<?${next.toString()}>; rel="next"`]] });
    },
    getDelivery: async ({ input: { tenantId, deliveryId } }) =>
      await (await deliveries()).log.entry(tenantId, deliveryId),
    retryDelivery: async ({ input: { tenantId, deliveryId }, given: { idempotencyKey } }) =>
      await (await deliveries()).log.retry(tenantId, deliveryId, idempotencyKey),
    async reportDataset({ input: { tenantId, datasetId, body } }) {
      if (Buffer.byteLength(JSON.stringify(body)) > DATASET_BYTES_MAX)
        return respondError(413, `a report has at most ${DATASET_BYTES_MAX} bytes`);
      const answer = await (await deliveries()).intake.report(tenantId, datasetId, body);
      return !answer.isOk && answer.code === 'TOO_MANY_REQUESTS' ? tooMany(answer) : answer;
    },
  };
}

/** The budget knows when it has enough again. */
function tooMany({ message, details }: Refused): ReturnType<typeof respondError> {
  const { retryAfterS = 1 } = (details ?? {}) as { readonly retryAfterS?: number };
  return respondError(429, message, { headers: [['retry-after', String(retryAfterS)]] });
}
