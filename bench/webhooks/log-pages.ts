// Measurement (cc): pages of the log of a tenant, one after the other, with each of the filters.
//
// The service answers a report before it makes the deliveries of its event, and its consumers read the records of these deliveries later
// still. Pages share the thread of that work. So they are measured twice: while the service catches up, and once it is at rest. Only
// the second figure is about the log.
import { setTimeout as pause } from 'node:timers/promises';
import type { DeliveryOutcome, WebhooksClient } from '@svc/client';
import { type Measurement, percentile } from '../report.ts';
import type { MeasuredWebhooks } from './measured-webhooks.ts';

export interface MeasuredPages {
  readonly tenantId: string;
  /** Number of entries in the log of the tenant. */
  readonly entries: number;
  /** Number of pages that are measured with each filter. */
  readonly pages: number;
  /** Pause before the first page of a service that is at rest, in milliseconds. */
  readonly settleMs: number;
  readonly cores: string;
}

type Query = Parameters<WebhooksClient['listDeliveries']>[0];
type Entry = Readonly<Record<'subscriptionId' | 'eventId' | 'datasetId', string>>;

const PAGE_ENTRIES = 50;
const MS_PER_S = 1_000;

/** Measures pages. Call this function right after the last entry has appeared in the log. */
export async function measurePages(
  webhooks: MeasuredWebhooks,
  { tenantId, entries, pages, settleMs, cores }: MeasuredPages,
): Promise<Measurement> {
  const client = await webhooks.clientOf(tenantId);
  const lagRecords = await webhooks.lagRecords();
  const behindMs = await pagesP99(client, { tenantId }, pages);
  const beganMs = performance.now();
  await webhooks.atRest();
  const restS = (performance.now() - beganMs) / MS_PER_S;
  await pause(settleMs);
  const worst: string[] = [];
  let longest = 0;
  for (const [name, query] of Object.entries(await filtered(client, tenantId))) {
    // oxlint-disable-next-line no-await-in-loop -- pages are measured one after the other
    const p99 = await pagesP99(client, query, pages);
    worst.push(`${name} ${p99.toFixed(1)}`);
    longest = Math.max(longest, p99);
  }
  return {
    letter: 'cc',
    what: `webhooks: a page of ${PAGE_ENTRIES} of ${entries} entries of the log once the service has caught up with them, one page after the other, 99th percentile of the slowest filter`,
    svc: longest,
    beside:
      `by filter, in ms: ${worst.join(', ')}; without a filter ${behindMs.toFixed(1)} right after the last report, when consumers and views had ` +
      `${lagRecords} records to read, for which they took ${restS.toFixed(0)} s more`,
    other: undefined,
    unit: 'ms',
    ratio: undefined,
    cores,
  };
}

/** Returns a query with each of the filters. The values are those of the newest entry. */
async function filtered(
  client: WebhooksClient,
  tenantId: string,
): Promise<Readonly<Record<string, Query>>> {
  const { entries } = await client.listDeliveries({ tenantId, limit: 1 });
  const [{ subscriptionId: subscription, eventId, datasetId: dataset }] =
    entries as unknown as readonly [Entry];
  const outcome: DeliveryOutcome = 'pending';
  return {
    none: { tenantId },
    outcome: { tenantId, outcome },
    subscription: { tenantId, subscription },
    both: { tenantId, subscription, outcome },
    dataset: { tenantId, dataset },
    event: { tenantId, eventId },
  };
}

/** Returns the 99th percentile of the time of a page, in milliseconds. After the last page of a query the first one follows again. */
async function pagesP99(client: WebhooksClient, query: Query, pages: number): Promise<number> {
  const tookMs: number[] = [];
  let cursor: string | undefined;
  for (let count = 0; count < pages; count++) {
    const begunMs = performance.now();
    const page = await client.listDeliveries({
      ...query,
      limit: PAGE_ENTRIES,
      ...(cursor === undefined ? {} : { cursor }),
    });
    tookMs.push(performance.now() - begunMs);
    ({ cursor } = page);
  }
  return percentile(tookMs, 0.99);
}
