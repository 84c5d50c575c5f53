// NoticeFailures: has other subscriptions of a tenant told when a delivery is exhausted (document 3, "Events"). The tenant's entity
// decides whether, since it counts for the whole subscription.
//
// Invariant: an event of this kind that is exhausted itself causes none.
import { defineConsumer } from '@svc/host';
import { delivery } from '../model/delivery.ts';
import { noticeKey } from '../model/ids.ts';
import { FAILING, notice } from '../model/notice.ts';
import type { Segment } from '../segments/segments.ts';
import { type HandlingFailed, retried } from './retried.ts';

export interface Failure {
  readonly subscriptionId: string;
  readonly deliveryId: string;
  readonly run: number;
  /** When the last attempt ended, in milliseconds since 1970. */
  readonly atMs: number;
}

export interface NoticeFailuresParts {
  /** Returns whether others are to be told. The same failure has the same answer each time. */
  readonly grant: (tenant: string, failure: Failure) => Promise<boolean>;
  readonly segmentAt: (timeMs: number) => Promise<Segment>;
  readonly failed: HandlingFailed;
}

export function noticeFailures({ grant, segmentAt, failed }: NoticeFailuresParts) {
  return defineConsumer({
    id: 'notice-failures',
    start: 'beginning',
    on: [
      {
        entity: delivery,
        handle: (event, context) =>
          retried(context, failed, async () => {
            const { call, entityId: deliveryId, done } = context;
            if (event.type !== 'ended' || event.outcome !== 'exhausted') return done();
            const entry = await call(delivery, deliveryId).entry();
            // It has expired meanwhile.
            if (!entry.isOk) return done();
            const { tenant, eventId, eventType, subscription: subscriptionId } = entry.value.about;
            if (eventType === FAILING) return done();
            const { atMs, url, attempt } = event;
            const { run, status, error } = attempt;
            if (!(await grant(tenant, { subscriptionId, deliveryId, run, atMs }))) return done();
            const { service } = await segmentAt(atMs);
            const noticed = await service.call(notice, noticeKey(deliveryId, run)).notice({
              tenant,
              run,
              subscriptionId,
              url,
              eventId,
              eventType,
              deliveryId,
              lastStatus: status,
              lastError: error,
              exhaustedAtMs: atMs,
            });
            return noticed.isOk ? done() : noticed;
          }),
      },
    ],
  });
}
