// ConsumerRows are the rows of the tables `consumer` and `lane`, with checksums.
import { crc32 } from 'node:zlib';

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
  /** When the event is tried again, in milliseconds since 1970; null: it is parked. */
  readonly nextMs: number | null;
  readonly reason: string | null;
}

export function consumerChecksum({ id, start, pos }: ConsumerRow): number {
  return crc32(JSON.stringify([id, start, pos]));
}

export function laneChecksum(lane: LaneRow): number {
  const { consumer, component, id, seq, state, attempts, nextMs, reason } = lane;
  return crc32(JSON.stringify([consumer, component, id, seq, state, attempts, nextMs, reason]));
}
