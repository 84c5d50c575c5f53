// HistoryScan reads the histories of many entities of a component, in the order of their ids, by pages that hold the
// records of as many entities as fit. JournalInspection reads a single entity; a query for each entity costs more than
// a short history. HistoryScan continues past damage, and reports it.
import type { EntityRef } from '@svc/model/entity';
import { printable } from '@svc/kit/printable';
import { SvcError } from '@svc/kit/svc-error';
import type { HistoryScan, InspectedRecord, ScannedHistory } from '../../journal-inspection.ts';
import { recordOf } from '../journal-reader.ts';
import type { RecordRow } from '../journal-schema.ts';
import { historiesOf } from '../record-index.ts';
import { ReadingConnection, type StoredRow } from './reading-connection.ts';
import { journalDamaged } from '../sqlite-failure.ts';

/** Maximum number of records in a page. */
const PAGE_RECORDS = 1_024;
/** Maximum number of entities in a page. */
const PAGE_ENTITIES = 512;
/** UTF-16 units of JSON text after which a page ends: each event may be a megabyte long. */
const PAGE_UNITS = 2 * 1024 * 1024;
/** The number of columns of a stored row before those of `recordColumns`. */
const NAMES = 1;
const SEQ_COLUMN = NAMES + 1;
const JSON_COLUMN = NAMES + 5;

const histories = (format: number) =>
  historiesOf(
    format,
    `component = ?1 AND id > ?2 AND id <= ifnull((
      SELECT id FROM entity WHERE component = ?1 AND id > ?2 AND id <= ?3
      ORDER BY id LIMIT 1 OFFSET ${PAGE_ENTITIES - 1}
    ), ?3)`,
    String(PAGE_RECORDS),
  );

export class SqliteHistoryScan implements HistoryScan {
  readonly #connection: ReadingConnection;

  /** Throws SVC_JOURNAL_MISSING, SVC_JOURNAL_NEWER, SVC_JOURNAL_CORRUPT and SVC_DATA_UNUSABLE. */
  constructor(dir: string) {
    this.#connection = new ReadingConnection(dir);
  }

  /**
   * Returns the histories of the first entities with `afterId < id ≤ lastId`; none is left if the list is empty. Throws
   * SVC_JOURNAL_CORRUPT, SVC_JOURNAL_NEWER and SVC_JOURNAL_UNAVAILABLE.
   */
  page(component: string, afterId: string, lastId: string): readonly ScannedHistory[] {
    let units = 0;
    const rows = this.#connection.rows(histories, [component, afterId, lastId], (row) => {
      const json = row[JSON_COLUMN];
      units += typeof json === 'string' ? json.length : 0;
      return units >= PAGE_UNITS;
    });
    const isCut = rows.length === PAGE_RECORDS || units >= PAGE_UNITS;
    const byId = [...Map.groupBy(rows, ([id]) => String(id))];
    const first = byId[0]?.[0];
    // An id that is not a text cannot be found by its text, so paging by ids might never end.
    if (first !== undefined && Buffer.compare(Buffer.from(first), Buffer.from(afterId)) <= 0)
      throw journalDamaged(
        this.#connection.path,
        `an id of component '${printable(component)}' is no text`,
      );
    return byId.map(([id, stored], index) =>
      historyOf({ component, id }, stored, !isCut || index < byId.length - 1),
    );
  }

  close(): void {
    this.#connection.close();
  }
}

function historyOf(
  entity: EntityRef,
  rows: readonly StoredRow[],
  isWhole: boolean,
): ScannedHistory {
  const { id } = entity;
  const records: InspectedRecord[] = [];
  let lastSeq = 0;
  // An entity without records has one row too.
  const stored = rows.filter((row) => row[SEQ_COLUMN] !== null);
  for (const [index, row] of stored.entries()) {
    const seq = Number(row[SEQ_COLUMN]);
    const next = lastSeq + 1;
    if (!Number.isSafeInteger(seq)) {
      records.push({ kind: 'damaged', seq: next, problem: 'what follows has no number' });
      return { id, records, lastSeq, storedCount: index, isWhole: true };
    }
    if (seq !== next) records.push({ kind: 'damaged', seq: next, problem: missing(next, seq - 1) });
    records.push(inspected(entity, seq, row));
    lastSeq = seq;
  }
  return { id, records, lastSeq, storedCount: stored.length, isWhole };
}

function inspected(entity: EntityRef, seq: number, row: StoredRow): InspectedRecord {
  // Numbers are read as bigints.
  const plain = row
    .slice(NAMES)
    .map((value) => (typeof value === 'bigint' ? Number(value) : value));
  try {
    return recordOf(entity, plain as unknown as RecordRow);
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    return { kind: 'damaged', seq, problem: 'it is not what was written' };
  }
}

function missing(from: number, to: number): string {
  return from === to ? `record ${from} is missing` : `records ${from} to ${to} are missing`;
}
