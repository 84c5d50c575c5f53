// What the dispatcher of a consumer needs of a journal: the position up to which a consumer has settled its events, and the
// lanes of entities whose events wait.
//
// Invariants
// C1  Each event before a consumer's position is settled, or its entity has a stored lane, and the event's number is not
//     less than the lane's.
// C2  A position and the lanes that make it true are stored in one transaction.
import type { Awaitable } from '@svc/model/call';
import type { EntityRef } from '@svc/model/entity';
import type { Position } from './feed.ts';

/** Entities whose parked events one request of an operator retries at most: they become lanes that run, and rows of one write. */
export const RETRIED_AT_ONCE_MAX = 1_000;

/** A consumer, and how far it is. */
export interface StoredConsumer {
  readonly id: string;
  /** Whether it began with the first event of the journal, or with the events after its own beginning. */
  readonly start: 'beginning' | 'now';
  readonly position: Position;
}

/** An entity whose events wait for one of them: it is tried again later, or it is parked. */
export interface StoredLane {
  readonly entity: EntityRef;
  /** Number of the first event of the entity that is not settled, among its records. The entity's later events wait. */
  readonly seq: number;
  /** The number of attempts of this event that have failed. */
  readonly attempts: number;
  /**
   * The number of attempts of this event that have ended by a verdict of the consumer, or have parked it. Calls that were
   * refused in an earlier round are made again. Unlike `attempts`, an operator's retry does not reset it.
   */
  readonly round: number;
  /** When the event is tried again, in milliseconds since 1970-01-01T00:00:00Z; undefined: the lane is parked. */
  readonly nextMs: number | undefined;
  /** Why the last attempt failed. Without attempts: why an operator has skipped the event before, while no host ran. */
  readonly reason: string | undefined;
  /**
   * The row is not what was written. The lane is read as parked, and its number, which is not known, as 0. It waits until an
   * operator says which event is settled.
   */
  readonly isDamaged?: true;
}

export interface ConsumerSettlement {
  readonly position: Position;
  /** Lanes to store, each instead of an earlier one of its entity. */
  readonly lanes: readonly StoredLane[];
  /** Entities whose lanes are removed. No entity is in both lists. */
  readonly rejoined: readonly EntityRef[];
}

export interface ConsumerReader {
  /** Returns a consumer; undefined: it is not stored. Throws, or rejects with, SVC_JOURNAL_CORRUPT or SVC_JOURNAL_UNAVAILABLE. */
  consumer(id: string): Awaitable<StoredConsumer | undefined>;
  /**
   * Returns lanes of a consumer after that of an entity, at most `limit`, in an order that stays the same. Throws as
   * `consumer` does, also for a lane of no entity: nobody knows whose events wait.
   */
  lanes(consumer: string, limit: number, after?: EntityRef): Awaitable<readonly StoredLane[]>;
}

export interface ConsumerWriter {
  /**
   * Stores a settlement, and the consumer if it is not stored yet: all of it, or nothing. Resolves once it is on disk.
   * Rejects with SVC_JOURNAL_UNAVAILABLE, SVC_DISK_FULL or SVC_JOURNAL_CORRUPT.
   */
  settleConsumer(
    consumer: Pick<StoredConsumer, 'id' | 'start'>,
    settlement: ConsumerSettlement,
  ): Promise<void>;
  /**
   * Resolves once no settlement of the consumer that has failed can be stored any more, so that what is read then stays. Rejects as
   * `settleConsumer` does. Absent: none ever can.
   */
  concluded?(consumer: string): Promise<void>;
}
