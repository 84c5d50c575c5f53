// SegmentPending: the pending deliveries of all segments, as their views know them.
//
// Invariant: a delivery that has ended before `first` is called is not among its results. Otherwise the scheduler would ask again and again
// while the views wait for a group of events.
import type { Page, Result } from '@svc/host';
import { backlogView } from '../views/backlog-view.ts';
import { dueView } from '../views/due-view.ts';
import { hostOf } from './due-delivery.ts';
import type { Segments } from '../segments/segments.ts';
import type { FirstPending, PendingDeliveries } from './scheduler.ts';

const PAGE_MAX = 1_000;

export class SegmentPending implements PendingDeliveries {
  readonly #segments: Pick<Segments, 'newestFirst'>;

  constructor(segments: Pick<Segments, 'newestFirst'>) {
    this.#segments = segments;
  }

  async backlogs(): Promise<ReadonlyMap<string, number>> {
    const sums = new Map<string, number>();
    for (const { service } of this.#segments.newestFirst) {
      const view = service.view(backlogView);
      let cursor: string | undefined;
      do {
        // oxlint-disable-next-line no-await-in-loop -- a page begins where the one before has ended
        const page = pageOf(await view.all(PAGE_MAX, cursor));
        for (const { subscription, pending } of page.rows)
          sums.set(subscription, (sums.get(subscription) ?? 0) + pending);
        cursor = page.cursor;
      } while (cursor !== undefined);
    }
    return sums;
  }

  async first(subscription: string, max: number): Promise<FirstPending> {
    const pages = await Promise.allSettled(
      this.#segments.newestFirst.map(async ({ number: segment, service }) => {
        const view = service.view(dueView, { after: service.position() });
        const page = await view.ofSubscription({ subscription }, max);
        return pageOf(page).rows.map((row) => ({ ...row, segment, host: hostOf(row.url) }));
      }),
    );
    const read = pages.flatMap((page) => (page.status === 'fulfilled' ? page.value : []));
    const failed = pages.find((page) => page.status === 'rejected');
    return {
      deliveries: read.toSorted((one, other) => one.dueAtMs - other.dueAtMs).slice(0, max),
      ...(failed !== undefined && { failure: failed.reason }),
    };
  }
}

/** A query without a cursor, or with one that it gave, is never refused. */
function pageOf<Row>(page: Result<Page<Row>>): Page<Row> {
  if (page.isOk) return page.value;
  throw new Error(`a view refused a query: ${page.message}`);
}
