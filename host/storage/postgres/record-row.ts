// RecordRow is a record of the journal as a row of the table `journal`.
import { printable } from '@svc/kit/printable';
import { SvcError } from '@svc/kit/svc-error';
import type { EntityRef, JournalRecord, RecordKind } from '@svc/model/entity';
import type { Row } from './database-session.ts';
import { rowChecksum } from './row-checksum.ts';

/** The columns that `recordOfRow` takes, of the table `journal` under the alias `j`. */
export const RECORD_COLUMNS =
  'j.slice, j.off, j.seq, j.kind, j.time_ms, j.manifest, j.event, j.seed::text, j.trace, j.key, j.by, j.crc';

const KIND_NUMBERS: Readonly<Record<RecordKind, number>> = { event: 0, deleted: 1 };

/** The position of a record: its slice, and its number there. */
export interface RecordPosition {
  readonly slice: number;
  readonly off: number;
}

/** The values of a record's columns, from `seq` to `crc`, in the order of RECORD_COLUMNS. */
export type RecordValues = readonly [
  seq: number,
  kind: number,
  timeMs: number,
  manifest: string | null,
  event: string | null,
  seed: string | null,
  trace: string | null,
  key: string | null,
  by: string | null,
  crc: number,
];

/** Returns the values of the columns that store a record. */
export function recordValues(
  entity: EntityRef,
  { slice, off }: RecordPosition,
  record: JournalRecord,
): RecordValues {
  const { manifest = null, json = null } = record.kind === 'event' ? record.event : {};
  const seed = record.seed === undefined ? null : String(BigInt.asIntN(64, record.seed));
  const { trace = null, key = null, by = null } = record;
  const kind = KIND_NUMBERS[record.kind];
  const columns = [record.seq, kind, record.timeMs, manifest, json, seed, trace, key, by] as const;
  return [...columns, rowChecksum([entity.component, entity.id, slice, off, ...columns])];
}

/** Returns the record in a row. Throws SVC_JOURNAL_CORRUPT if the row is not what was stored. */
export function recordOfRow(entity: EntityRef, row: Row): JournalRecord {
  const [slice, off, ...values] = row as unknown as readonly [number, number, ...RecordValues];
  const crc = values.at(-1);
  const [seq, kind, timeMs, manifest, json, seed, trace, key, by] = values;
  const columns = values.slice(0, -1);
  if (crc !== rowChecksum([entity.component, entity.id, slice, off, ...columns]))
    throw damagedRecord(entity, { slice, off }, 'its checksum does not fit');
  const origin = {
    seq,
    timeMs,
    ...(seed !== null && { seed: BigInt.asUintN(64, BigInt(seed)) }),
    ...(trace !== null && { trace }),
    ...(key !== null && { key }),
    ...(by !== null && { by }),
  };
  if (kind === KIND_NUMBERS.event && manifest !== null && json !== null)
    return { kind: 'event', ...origin, event: { manifest, json } };
  if (kind === KIND_NUMBERS.deleted && manifest === null && json === null)
    return { kind: 'deleted', ...origin };
  throw damagedRecord(entity, { slice, off }, 'its kind does not fit its columns');
}

/** Returns the failure of a record that cannot be read. `problem`: a clause, such as `it is missing`. */
export function damagedRecord(
  { component, id }: EntityRef,
  { slice, off }: RecordPosition,
  problem: string,
): SvcError {
  return new SvcError(
    'SVC_JOURNAL_CORRUPT',
    `The record ${off} of slice ${slice}, of entity '${printable(id)}' of component '${printable(component)}', cannot be read: ` +
      `${problem}. Restore the database from a backup; entities without damaged records are not affected.`,
  );
}
