// Delivery: an event on its way to a consumer, and how that ends.
import type { EntityEvent, EntityRef, JournalRecord } from '@svc/model/entity';
import type { Verdict } from '@svc/model/consumer';

/**
 * How an attempt ended:
 * - a verdict of the consumer;
 * - `interrupted`: the consumer could not come to a verdict, such as for lack of time. The next attempt repeats this one: it gets
 *   the same refusals.
 * - `park`: the consumer has refused the event, or faulted. Another attempt would end in the same way.
 * - `unavailable`: the runtime could not deliver the event, for a reason of its own. The attempt does not count, and the next
 *   one repeats it.
 */
export type DeliveryOutcome =
  | Verdict
  | { readonly kind: 'interrupted'; readonly reason: string }
  | { readonly kind: 'park'; readonly reason: string }
  | { readonly kind: 'unavailable' };

/** An event with what a repeated attempt needs to be the same as the first. */
export interface DeliveredEvent extends EntityEvent {
  /** Seed of the command that stored the event; undefined in journals of format 1. */
  readonly seed: bigint | undefined;
  /** Trace id of that command; undefined in journals of formats 1 and 2. */
  readonly trace: string | undefined;
}

/** Delivers an event. `attempt`: 1 for the first. `round`: as in StoredLane. A rejection counts as `unavailable`. */
export type Deliver = (
  event: DeliveredEvent,
  attempt: number,
  round: number,
) => Promise<DeliveryOutcome>;

/** Returns the event of a record. */
export function deliveredEvent(
  entity: EntityRef,
  { seq, timeMs, seed, trace, event }: Extract<JournalRecord, { readonly kind: 'event' }>,
): DeliveredEvent {
  return { entity, seq, timeMs, event, seed, trace };
}
