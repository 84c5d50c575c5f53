// ConsumerRows are the rows of the tables `consumer` and `lane`, with checksums.
import { crc32 } from 'node:zlib';
import type { StoredLane } from '../../engine/needs/consumers.ts';
import type { EntityRef } from '@svc/model/entity';

/** A consumer, and the position up to which all of its events are settled. */
export interface ConsumerRow {
  readonly id: string;
  readonly start: 'beginning' | 'now';
  readonly pos: number;
}

/** An entity with an event that a consumer tries again later, or that it has parked. */
export interface LaneRow {
  readonly consumer: string;
  readonly component: string;
  readonly id: string;
  /** Number of the first event of the entity that is not settled. */
  readonly seq: number;
  readonly state: number;
  readonly attempts: number;
  readonly round: number;
  /** When the event is tried again, in milliseconds since 1970; null: it is parked. */
  readonly nextMs: number | null;
  readonly reason: string | null;
}

export function consumerChecksum({ id, start, pos }: ConsumerRow): number {
  return crc32(JSON.stringify([id, start, pos]));
}

export function laneChecksum(lane: LaneRow): number {
  const { consumer, component, id, seq, state, attempts, round, nextMs, reason } = lane;
  const values = [consumer, component, id, seq, state, attempts, round, nextMs, reason];
  return crc32(JSON.stringify(values));
}

/** Value of `state` of a lane whose event is tried again. */
const WAITING = 0;
/** Value of `state` of a parked lane. */
const PARKED = 1;

export function laneRowOf(consumer: string, lane: StoredLane): LaneRow {
  return {
    consumer,
    component: lane.entity.component,
    id: lane.entity.id,
    seq: lane.seq,
    state: lane.nextMs === undefined ? PARKED : WAITING,
    attempts: lane.attempts,
    round: lane.round,
    nextMs: lane.nextMs ?? null,
    reason: lane.reason ?? null,
  };
}

export function storedLaneOf(row: LaneRow): StoredLane {
  return {
    entity: { component: row.component, id: row.id },
    seq: row.seq,
    attempts: row.attempts,
    round: row.round,
    nextMs: row.nextMs ?? undefined,
    reason: row.reason ?? undefined,
  };
}

/** Returns the lane of a row whose checksum is wrong. */
export function damagedLane(entity: EntityRef): StoredLane {
  return {
    entity,
    seq: 0,
    attempts: 0,
    round: 0,
    nextMs: undefined,
    reason: 'The row of this entity is damaged: it is not known which event is the next.',
    isDamaged: true,
  };
}
