// Delivery: an event on its way to a consumer, and how that ends.
import type { EntityEvent } from '../model/entity.ts';
import type { Verdict } from '../model/consumer.ts';

/**
 * How an attempt ended:
 * - a verdict of the consumer;
 * - `park`: the consumer has refused the event, or faulted. Another attempt would end in the same way.
 * - `unavailable`: the runtime could not deliver the event, for a reason of its own. The attempt does not count.
 */
export type DeliveryOutcome =
  | Verdict
  | { readonly kind: 'park'; readonly reason: string }
  | { readonly kind: 'unavailable' };

/** Delivers an event. `attempt`: 1 for the first. A rejection counts as `unavailable`. */
export type Deliver = (event: EntityEvent, attempt: number) => Promise<DeliveryOutcome>;
