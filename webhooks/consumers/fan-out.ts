// FanOut: opens a delivery of each event for each subscription of its tenant that it matches. Subscriptions are those that there are
// when the event is handled.
//
// Invariant: a delivery has the same id each time the event is handled, so that none is opened twice.
import { defineConsumer, type ConsumerContext } from '@svc/host';
import type { BodySource, About } from '../model/delivery-state.ts';
import { dataset } from '../model/dataset.ts';
import { delivery } from '../model/delivery.ts';
import type { NextAttempt } from '../model/attempt-schedule.ts';
import type { StoredEvent } from '../model/event.ts';
import { deliveryId } from '../model/ids.ts';
import { notice } from '../model/notice.ts';
import { type HandlingFailed, retried } from './retried.ts';

/** A subscription, as far as the fan-out is concerned. */
export interface Recipient {
  readonly id: string;
  readonly url: string;
}

/** An event as subscriptions are matched with it. */
export interface MatchedEvent {
  readonly type: string;
  readonly occurredAtMs: number;
  readonly dataset?: {
    readonly name: string;
    readonly model: string;
    readonly tags: readonly string[];
    readonly status: string;
  };
  /** Subscription that the event is about, and which does not get it. */
  readonly about?: string;
}

export interface OpenedDelivery {
  readonly id: string;
  readonly about: About;
  readonly url: string;
  readonly body: string;
}

export interface FanOutParts {
  /** Number of the segment whose events these are. */
  readonly segment: number;
  readonly matching: (tenant: string, event: MatchedEvent) => Promise<readonly Recipient[]>;
  /** Whether so many deliveries of a subscription are pending that no further one is. */
  readonly isBacklogFull: (subscription: string) => boolean;
  /** Receives each delivery whose first attempt is due. */
  readonly opened: (delivery: OpenedDelivery, next: NextAttempt) => void;
  readonly failed: HandlingFailed;
}

interface Data {
  readonly id: string;
  readonly name: string;
  readonly model: string;
  readonly tags: readonly string[];
  readonly status: string;
}

export function fanOut(parts: FanOutParts) {
  return defineConsumer({
    id: 'fan-out',
    start: 'beginning',
    on: [
      {
        entity: dataset,
        handle: (happened, context) =>
          retried(context, parts.failed, async () => {
            const { entityId, seq, done } = context;
            const event = happened.type === 'reported' ? happened.event : undefined;
            if (event === undefined) return done();
            const { data } = JSON.parse(event.body) as { readonly data: Data };
            const { id, name, model, tags, status } = data;
            return await open(parts, context, {
              event,
              datasetId: id,
              source: { entity: 'dataset', id: entityId, seq },
              matched: { ...matchedOf(event), dataset: { name, model, tags, status } },
            });
          }),
      },
      {
        entity: notice,
        handle: ({ event, about }, context) =>
          retried(context, parts.failed, () => {
            const { entityId, seq } = context;
            return open(parts, context, {
              event,
              datasetId: null,
              source: { entity: 'notice', id: entityId, seq },
              matched: { ...matchedOf(event), about },
            });
          }),
      },
    ],
  });
}

function matchedOf({ type, occurredAtMs }: StoredEvent): MatchedEvent {
  return { type, occurredAtMs };
}

interface Opening {
  readonly event: StoredEvent;
  readonly datasetId: string | null;
  readonly source: BodySource;
  readonly matched: MatchedEvent;
}

async function open(
  { segment, matching, isBacklogFull, opened }: FanOutParts,
  { call, done }: ConsumerContext,
  { event, datasetId, source, matched }: Opening,
) {
  const { tenant } = event;
  const recipients = await matching(tenant, matched);
  const results = await Promise.all(
    recipients.map(async ({ id: subscription, url }) => {
      const id = deliveryId(segment, event.id, subscription);
      const { id: eventId, type: eventType, occurredAtMs } = event;
      const whose = { tenant, subscription, eventId, eventType, occurredAtMs };
      const about = { ...whose, dataset: datasetId, source };
      const next = await call(delivery, id).open({
        about,
        url,
        isBacklogFull: isBacklogFull(subscription),
      });
      if (next.isOk && next.value !== null)
        opened({ id, about, url, body: event.body }, next.value);
      return next;
    }),
  );
  return results.find((result) => !result.isOk) ?? done();
}
