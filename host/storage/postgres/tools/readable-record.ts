// ReadableRecord is a record as a tool reads it, whose row may be damaged in any way. The statement succeeds whatever the row has.
import { SvcError } from '@svc/kit/svc-error';
import type { EntityRef, JournalRecord } from '@svc/model/entity';
import { sliceOf } from '@svc/model/slice';
import type { Row } from '../database-session.ts';
import { recordOfRow } from '../record-row.ts';
import { safeNumber } from '../safe-number.ts';

/** The columns of `recordOfRow`, of the table `journal` under the alias `j`. */
export const READABLE_COLUMNS = `j.slice, j.off, ${safeNumber('j.seq')}, j.kind, ${safeNumber('j.time_ms')}, j.manifest, j.event,
  j.seed::text, j.trace, j.key, j.by, ${safeNumber('j.crc')}`;
/** Indexes of the columns. */
export const OFF = 1;
export const SEQ = 2;

/** Returns the record in a row of READABLE_COLUMNS; undefined: it is not what was written, or not in the slice of its entity. */
export function readableRecord(entity: EntityRef, row: Row): JournalRecord | undefined {
  if (row[0] !== sliceOf(entity.component, entity.id)) return undefined;
  try {
    return recordOfRow(entity, row);
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    return undefined;
  }
}

/** Text for a record that cannot be read. */
export const NOT_WRITTEN = 'it is not what was written';

/** Text for records that are missing. `what`: such as `record`. */
export function missing(what: string, from: number, to: number): string {
  return from === to ? `${what} ${from} is missing` : `${what}s ${from} to ${to} are missing`;
}
