// WorkInspection reads what a journal holds for timers and consumers, for a person or a check, also while a host writes the
// journal. It reads what is damaged as such, and creates and changes nothing. Every implementation of the journal has one.
//
// All methods throw, or reject with, SVC_JOURNAL_CORRUPT, SVC_JOURNAL_NEWER and SVC_JOURNAL_UNAVAILABLE.
import type { DuePosition, StoredTimer } from '../engine/needs/timers.ts';
import type { StoredConsumer, StoredLane } from '../engine/needs/consumers.ts';
import type { Awaitable } from '@svc/model/call';
import type { EntityRef } from '@svc/model/entity';
import type { SvcError } from '@svc/kit/svc-error';

/** Values that are read one after the other, at once or later. */
export type Read<T> = Iterable<T> | AsyncIterable<T>;

/** Timers in order, and the failures of damaged ones among them. */
export interface TimerPage<T = StoredTimer> {
  readonly timers: readonly T[];
  /** SVC_JOURNAL_CORRUPT for each damaged timer. */
  readonly damaged: readonly SvcError[];
  /**
   * Position of the last timer of the page, damaged ones included, after which the next page begins. `nextMs`: Infinity for
   * a dead timer.
   */
  readonly last: DuePosition | undefined;
}

export interface TimerFilter {
  /** Timers of this entity; 'service': the schedules of the service. */
  readonly owner?: EntityRef | 'service' | undefined;
  readonly state?: 'pending' | 'dead' | undefined;
}

export interface TimerInspection {
  /** Returns timers in the order in which they were set, with a number after `afterNumber`, at most `limit`. */
  list(filter: TimerFilter, afterNumber: number, limit: number): Awaitable<TimerPage>;
  /** Closes the connection; the next read opens it again. */
  close(): void;
}

/** A consumer and how far it is. */
export interface InspectedConsumer {
  readonly consumer: string;
  readonly start: 'beginning' | 'now';
  /** Records of the journal after its position. */
  readonly lagRecords: number;
  /** Entities with an event that is tried again, and with one that is parked. Counting stops at 200,000. */
  readonly retrying: number;
  readonly parked: number;
}

export interface LaneFilter {
  readonly state?: 'retrying' | 'parked' | undefined;
  readonly entity?: EntityRef | undefined;
}

/** `last`: number of the last lane, after which the next page begins; undefined if there is none. */
export interface LanePage {
  readonly lanes: readonly StoredLane[];
  /** SVC_JOURNAL_CORRUPT for each damaged lane. */
  readonly damaged: readonly SvcError[];
  readonly last: number | undefined;
}

/** A lane of any consumer. */
export interface ConsumerLane {
  readonly consumer: string;
  readonly lane: StoredLane;
}

export interface ConsumerInspection {
  /** Returns all consumers that have ever settled an event, by id. */
  consumers(): Awaitable<readonly InspectedConsumer[]>;
  /** Returns a consumer as it is stored; undefined if there is none. */
  stored(consumer: string): Awaitable<StoredConsumer | undefined>;
  /** Returns lanes of a consumer with a number after `afterNumber`, at most `limit`. */
  lanes(
    consumer: string,
    filter: LaneFilter,
    afterNumber: number,
    limit: number,
  ): Awaitable<LanePage>;
  /** Returns the parked lanes of a consumer that are not damaged. */
  parked(consumer: string): Read<StoredLane>;
  /** Yields the lanes of all consumers that are not damaged, in the order of the consumers' ids. */
  allLanes(): Read<ConsumerLane>;
  /** Closes the connection; the next read opens it again. */
  close(): void;
}
