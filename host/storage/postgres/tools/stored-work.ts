// StoredWork is what a journal in a database has beside its records, as rows that a tool reads: replies, consumers with how far they are,
// and lanes. A row that is not what was written is a finding.
import type { StoredConsumer, StoredLane } from '../../../engine/needs/consumers.ts';
import { SLICE_COUNT, sliceOf } from '@svc/model/slice';
import type { LaneEntry, ReplyEntry } from '../../journal-entries.ts';
import type { JournalFinding } from '../../verification-step.ts';
import {
  LANE_COLUMNS,
  type LaneRow,
  consumerChecksum,
  offsetChecksum,
  storedLaneOf,
} from '../consumers/consumer-rows.ts';
import type { Row } from '../database-session.ts';
import { replyChecksum } from '../reply-lookups.ts';
import { safeNumber } from '../safe-number.ts';
import { type OrderReader, type SliceEnds, noRecords } from './commit-order.ts';

/** Columns of the table `reply` under the alias `r`. */
export const REPLY_COLUMNS = `r.slice, r.component, r.id, r.key, r.digest, ${safeNumber('r.time_ms')}, r.outcome, ${safeNumber('r.crc')}`;

/** Returns the reply in a row of REPLY_COLUMNS. */
export function replyOfRow(row: Row): ReplyEntry | JournalFinding {
  const [slice, component, id, key, digest, timeMs, outcome, crc] = row as readonly [
    number,
    string,
    string,
    string,
    string,
    number,
    string,
    number,
  ];
  const isWhole =
    slice === sliceOf(component, id) &&
    crc === replyChecksum({ component, id }, { key, digest, timeMs }, outcome);
  if (isWhole) return { kind: 'answer', component, id, key, digest, timeMs, outcome };
  const problem = `the answer to the idempotency key '${key}' is not what was written`;
  return { kind: 'finding', component, id, problem };
}

const CONSUMERS = {
  text: `SELECT consumer, start, ${safeNumber('crc')} FROM svc.consumer ORDER BY consumer`,
};
const OFFSETS = {
  text: `SELECT consumer, slice, ${safeNumber('off')}, ${safeNumber('crc')} FROM svc.consumer_offset ORDER BY consumer, slice`,
};

/** A consumer, and the number of the last record of each slice that it has settled. */
export interface ReadConsumer {
  readonly kind: 'consumer';
  readonly id: string;
  readonly start: StoredConsumer['start'];
  readonly ends: SliceEnds;
}

/** Reads all consumers, by id. */
export async function readConsumers(
  reader: OrderReader,
): Promise<readonly (ReadConsumer | JournalFinding)[]> {
  const rows = (await reader.query(CONSUMERS)) as readonly [string, string, number][];
  const offsets = (await reader.query(OFFSETS)) as readonly OffsetRow[];
  const byConsumer = Map.groupBy(offsets, ([consumer]) => consumer);
  const findings = [...byConsumer.keys()]
    .filter((id) => !rows.some(([consumer]) => consumer === id))
    .map((id) => damaged(`consumer '${id}' has numbers, and is missing itself`));
  const consumers = rows.map(([id, start, crc]) => {
    const ends = endsOf(byConsumer.get(id) ?? []);
    if (ends === undefined || crc !== consumerChecksum(id, start))
      return damaged(`consumer '${id}' is not what was written`);
    return { kind: 'consumer', id, start: start as StoredConsumer['start'], ends } as const;
  });
  return [...consumers, ...findings];
}

type OffsetRow = readonly [consumer: string, slice: number, off: number, crc: number];

/** Returns how far a consumer is; undefined: a row is not what was written. */
function endsOf(rows: readonly OffsetRow[]): SliceEnds | undefined {
  const ends = noRecords();
  for (const [consumer, slice, off, crc] of rows) {
    if (slice < 0 || slice >= SLICE_COUNT || off < 0) return undefined;
    if (crc !== offsetChecksum(consumer, slice, off)) return undefined;
    ends[slice] = off;
  }
  return ends;
}

/** Columns of the table `lane`: its consumer, and those of a LaneRow. */
export const WORK_LANE_COLUMNS = `consumer, ${LANE_COLUMNS}`;

/** Returns the lane in a row of WORK_LANE_COLUMNS. */
export function laneOfRow(row: Row): LaneEntry | JournalFinding {
  const [consumer, ...columns] = row as readonly [string, ...LaneRow];
  const [slice, component, id] = columns;
  const lane: StoredLane = storedLaneOf(consumer, columns);
  if (lane.isDamaged !== true && slice === sliceOf(component, id))
    return { kind: 'lane', consumer, lane };
  const problem = `the lane of this entity, of consumer '${consumer}', is not what was written`;
  return { kind: 'finding', component, id, problem };
}

function damaged(problem: string): JournalFinding {
  return { kind: 'finding', problem };
}
