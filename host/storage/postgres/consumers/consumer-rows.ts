// ConsumerRows are the rows of the tables `consumer`, `consumer_offset` and `lane`, with checksums: how far a consumer is decides
// which events it never sees again, so a number that was changed by hand is not believed.
import type { StoredLane } from '../../../engine/needs/consumers.ts';
import type { EntityRef } from '@svc/model/entity';
import { sliceOf } from '@svc/model/slice';
import type { Parameter } from '../database-session.ts';
import { rowChecksum } from '../row-checksum.ts';
import { safeNumber } from '../safe-number.ts';

export function consumerChecksum(consumer: string, start: string): number {
  return rowChecksum([consumer, start]);
}

export function offsetChecksum(consumer: string, slice: number, off: number): number {
  return rowChecksum([consumer, slice, off]);
}

/** A row of the table `lane` without its consumer. */
export type LaneRow = readonly [
  slice: number,
  component: string,
  id: string,
  seq: number,
  attempts: number,
  round: number,
  nextMs: number | null,
  reason: string | null,
  crc: number,
];

/** SQL for the columns of a LaneRow. */
export const LANE_COLUMNS = [
  'slice',
  'component',
  'id',
  ...['seq', 'attempts', 'round', 'next_ms'].map(safeNumber),
  'reason',
  safeNumber('crc'),
].join(', ');

/** PostgreSQL cannot store U+0000. A reason is for people only. */
const NUL = '\u0000';
const REPLACEMENT = '\uFFFD';

export function laneRowOf(consumer: string, lane: StoredLane): LaneRow {
  const { component, id } = lane.entity;
  const { seq, attempts, round, nextMs = null } = lane;
  const reason = lane.reason?.toWellFormed().replaceAll(NUL, REPLACEMENT) ?? null;
  const columns = [
    sliceOf(component, id),
    component,
    id,
    seq,
    attempts,
    round,
    nextMs,
    reason,
  ] as const;
  return [...columns, rowChecksum([consumer, ...columns])];
}

/** Returns the lane of a row; if the row is not what was written, a lane whose event is not known. */
export function storedLaneOf(consumer: string, row: LaneRow): StoredLane {
  const [, component, id, seq, attempts, round, nextMs, reason, crc] = row;
  const entity = { component, id };
  if (rowChecksum([consumer, ...row.slice(0, -1)]) !== crc) return damagedLane(entity);
  return { entity, seq, attempts, round, nextMs: nextMs ?? undefined, reason: reason ?? undefined };
}

function damagedLane(entity: EntityRef): StoredLane {
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

/** Returns rows as columns, one array each, for `unnest`. */
export function columnsOf(
  rows: readonly (readonly (string | number | null)[])[],
  count: number,
): readonly Parameter[] {
  return Array.from({ length: count }, (_, column) => rows.map((row) => row[column]!));
}
