// ConsumerDefinition: code that runs for each event of entities, such as a call of another entity.
import type { Awaitable } from '@svc/model/call';
import type { Verdict as StoredVerdict } from '@svc/model/consumer';
import type { CallingContext } from './calling-context.ts';
import type { EntityDefinition } from './entity-definition.ts';
import type { ReadonlyDeep } from './entity-context.ts';
import { type EventContext, sourcesByComponent } from './event-source.ts';
import type { Refused } from './result.ts';
import { invalidDefinition } from './shape.ts';

/** Decision about an event. The context of `handle` creates it. */
export class Verdict {
  readonly #verdict: StoredVerdict;

  constructor(verdict: StoredVerdict) {
    this.#verdict = verdict;
  }

  get stored(): StoredVerdict {
    return this.#verdict;
  }
}

/**
 * Context of a consumer. Time, seed and random numbers are the same at each attempt, and calls of commands have keys of
 * their own, so that an attempt that repeats the calls of the one before gets the same replies. A call that was refused is
 * made again after `retry`, and after an operator's retry.
 */
export interface ConsumerContext extends CallingContext, EventContext {
  /** Settles the event. */
  readonly done: () => Verdict;
  /**
   * Has the event handled again, `afterMs` milliseconds later, or after a growing pause. The reason is for the
   * operator. Later events of the entity wait. Calls that were answered keep their replies; those that were refused are made
   * again.
   */
  readonly retry: (reason: string, afterMs?: number) => Verdict;
  /** Settles the event without having handled it. The reason is recorded for the operator. */
  readonly skip: (reason: string) => Verdict;
}

/** An entity whose events a consumer handles. */
export interface ConsumerSource<Event> {
  readonly entity: EntityDefinition<unknown, Event>;
  /**
   * Handles an event, at least once. A refusal is final: the entity's events wait at this one until an operator has it
   * tried again or skipped. So is an error that is thrown.
   */
  handle(event: ReadonlyDeep<Event>, context: ConsumerContext): Awaitable<Verdict | Refused>;
}

/** The first event of each entity that a new consumer receives: the entity's first one, or the next one. */
export type ConsumerStart = 'beginning' | 'now';

/** `Events`: types of the sources' events, in order. */
export interface ConsumerSpecification<Events extends readonly unknown[]> {
  /** Id of the consumer, in lower-case words: `ledger`. It names the consumer's progress in the journal. */
  readonly id: string;
  readonly start: ConsumerStart;
  readonly on: { readonly [Index in keyof Events]: ConsumerSource<Events[Index]> };
}

export interface ConsumerDefinition {
  readonly id: string;
  readonly start: ConsumerStart;
  /** The sources by their components, in the order of `on`. */
  readonly sources: ReadonlyMap<string, ConsumerSource<unknown>>;
}

/** Consumers that this copy of the package has defined. */
const DEFINED = new WeakSet<object>();

/** Returns whether `defineConsumer` of this copy of the package has made the value. */
export function isConsumerDefinition(value: unknown): value is ConsumerDefinition {
  return typeof value === 'object' && value !== null && DEFINED.has(value);
}

/** Defines a consumer. Throws SVC_DEFINITION_INVALID, which names the invalid part. */
export function defineConsumer<const Events extends readonly unknown[]>({
  id,
  start,
  on,
}: ConsumerSpecification<Events>): ConsumerDefinition {
  const location = `consumer '${id}'`;
  // A program in JavaScript may pass any value, or none.
  if (!['beginning', 'now'].includes(start))
    throw invalidDefinition(
      location,
      'it does not say where it starts',
      "Write start: 'beginning' for all events that there are, or start: 'now' for those that are still to come.",
    );
  const sources = on as unknown as readonly ConsumerSource<unknown>[];
  const consumer = { id, start, sources: sourcesByComponent(sources, location, 'on') };
  DEFINED.add(consumer);
  return consumer;
}
