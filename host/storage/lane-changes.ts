// LaneChanges say what an operator's order makes of a parked lane.
import type { StoredLane } from '../engine/needs/consumers.ts';
import { laneDamaged } from '../engine/needs/lane-damaged.ts';
import { SvcError } from '@svc/kit/svc-error';

/** An event that is settled without having been handled. */
export interface SkippedEvent {
  readonly seq: number;
  readonly reason: string;
}

/** Returns a parked lane whose event is tried again at `nextMs`; undefined: it is not parked. Throws SVC_JOURNAL_CORRUPT for a damaged one. */
export function retriedLane(
  consumer: string,
  lane: StoredLane,
  nextMs: number,
): StoredLane | undefined {
  if (lane.nextMs !== undefined) return undefined;
  if (lane.isDamaged === true) throw laneDamaged(consumer, lane.entity);
  return { ...lane, attempts: 0, nextMs, reason: undefined };
}

/** Returns a lane that continues after an event; undefined: it is not parked there. Where a damaged one is parked nobody knows. */
export function skippedLane(
  lane: StoredLane,
  { seq, reason }: SkippedEvent,
  nextMs: number,
): StoredLane | undefined {
  if (lane.nextMs !== undefined || (lane.isDamaged !== true && lane.seq !== seq)) return undefined;
  return { entity: lane.entity, seq: seq + 1, attempts: 0, round: 0, nextMs, reason };
}

/** Returns the failure of an order about a consumer that has handled no event. */
export function unknownConsumer(consumer: string): SvcError {
  return new SvcError(
    'SVC_NOT_IN_JOURNAL',
    `No consumer '${consumer}' has handled events of this journal. svc consumers DIR lists those that have.`,
  );
}
