// CopiedRows are the rows that a copy of a journal inserts: the columns of each table with their types, and the values of an entry.
import { sliceOf } from '@svc/model/slice';
import type {
  LaneEntry,
  ModuleEntry,
  RecordEntry,
  ReplyEntry,
  TimerEntry,
} from '../../journal-entries.ts';
import { laneRowOf } from '../consumers/consumer-rows.ts';
import { recordValues } from '../record-row.ts';
import { replyChecksum } from '../reply-lookups.ts';
import { rowChecksum } from '../row-checksum.ts';
import { COLUMN_TYPES, timerColumns } from '../timers/timer-row.ts';
import { copiedTx } from './commit-order.ts';
import type { Value } from './copy-batch.ts';

export const RECORD_COLUMNS = [
  ['slice', 'int2'],
  ['off', 'int8'],
  ['component', 'text'],
  ['id', 'text'],
  ['seq', 'int8'],
  ['kind', 'int2'],
  ['time_ms', 'int8'],
  ['manifest', 'text'],
  ['event', 'text'],
  ['seed', 'int8'],
  ['trace', 'text'],
  ['key', 'text'],
  ['by', 'text'],
  ['crc', 'int8'],
  ['module', 'int4'],
  ['tx', 'xid8'],
] as const;
export const REPLY_COLUMNS = [
  ['slice', 'int2'],
  ['component', 'text'],
  ['id', 'text'],
  ['key', 'text'],
  ['digest', 'text'],
  ['time_ms', 'int8'],
  ['outcome', 'text'],
  ['crc', 'int8'],
  ['stored_ms', 'int8'],
] as const;
export const LANE_COLUMNS = [
  ['consumer', 'text'],
  ['slice', 'int2'],
  ['component', 'text'],
  ['id', 'text'],
  ['seq', 'int8'],
  ['attempts', 'int8'],
  ['round', 'int8'],
  ['next_ms', 'int8'],
  ['reason', 'text'],
  ['crc', 'int8'],
] as const;
export const MODULE_COLUMNS = [
  ['number', 'int4'],
  ['fingerprint', 'text'],
  ['descriptor', 'text'],
  ['time_ms', 'int8'],
] as const;

export const TIMER_COLUMNS = [...COLUMN_TYPES, ['crc', 'int8']] as const;
export const CONSUMER_COLUMNS = [
  ['consumer', 'text'],
  ['start', 'text'],
  ['crc', 'int8'],
] as const;
export const OFFSET_COLUMNS = [
  ['consumer', 'text'],
  ['slice', 'int2'],
  ['off', 'int8'],
  ['crc', 'int8'],
] as const;
/** Indexes of the columns by which a record is known: its slice, its number, its checksum and its place in the order. */
export const COMPARED_COLUMNS = ['slice', 'off', 'crc', 'tx'].map((compared) =>
  RECORD_COLUMNS.findIndex(([name]) => name === compared),
);

export function recordRow(
  { pos, component, id, record, module }: RecordEntry,
  slice: number,
  off: number,
): readonly Value[] {
  const values = recordValues({ component, id }, { slice, off }, record);
  return [slice, off, component, id, ...values, module ?? null, copiedTx(pos)];
}

export function replyRow(
  { component, id, key, digest, timeMs, outcome }: ReplyEntry,
  storedMs: number,
): readonly Value[] {
  const crc = replyChecksum({ component, id }, { key, digest, timeMs }, outcome);
  return [sliceOf(component, id), component, id, key, digest, timeMs, outcome, crc, storedMs];
}

export function timerRow({ timer }: TimerEntry): readonly Value[] {
  const columns = timerColumns(timer);
  return [...columns, rowChecksum(columns)];
}

export function laneRow({ consumer, lane }: LaneEntry): readonly Value[] {
  return [consumer, ...laneRowOf(consumer, lane)];
}

export function moduleRow({
  number,
  fingerprint,
  descriptor,
  timeMs,
}: ModuleEntry): readonly Value[] {
  return [number, fingerprint, descriptor, timeMs];
}
