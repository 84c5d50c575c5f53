// EntityReads reads the records, the incarnation and the snapshots of entities.
import { READ_UNITS_MAX } from '../../engine/needs/journal.ts';
import type { IncarnationStart } from '../../engine/needs/journal.ts';
import type { EntityRef, JournalRecord } from '@svc/model/entity';
import { sliceOf } from '@svc/model/slice';
import type { Row } from './database-session.ts';
import { RECORD_COLUMNS, recordOfRow } from './record-row.ts';
import type { ReadingSession } from './reading-session.ts';
import { rowChecksum } from './row-checksum.ts';

/** UTF-8 bytes of the events that the database sends at most: those of a page, whatever its characters, and of one event. */
const BYTES_MAX = 3 * READ_UNITS_MAX;
const OF_ENTITY = 'j.slice = $1 AND j.component = $2 AND j.id = $3';
/** Bytes of the events before a record of a page. The length of a text is known without reading the text. */
const BYTES_BEFORE =
  'sum(coalesce(octet_length(j.event), 0)) OVER (ORDER BY j.seq) - coalesce(octet_length(j.event), 0)';

const READ = {
  name: 'read',
  text: `SELECT ${RECORD_COLUMNS} FROM (
    SELECT *, ${BYTES_BEFORE} AS before FROM (
      SELECT * FROM svc.journal j WHERE ${OF_ENTITY} AND j.seq > $4 AND j.off <= $6 ORDER BY j.seq LIMIT $5
    ) j
  ) j WHERE before < ${BYTES_MAX} ORDER BY j.seq`,
};

const LAST_DELETION = {
  name: 'last-deletion',
  text: `SELECT coalesce(max(j.seq), 0) FROM svc.journal j WHERE ${OF_ENTITY} AND j.kind = 1`,
};

/** The meaning of a row of INCARNATION, in its first column. */
const DELETION = 0;
const SNAPSHOT = 1;

const INCARNATION = {
  name: 'incarnation',
  text: `WITH deletion AS (
    SELECT coalesce(max(j.seq), 0) AS seq FROM svc.journal j WHERE ${OF_ENTITY} AND j.kind = 1
  ), snapshot AS (
    SELECT j.seq, j.state, j.crc FROM svc.snapshot j, deletion d
    WHERE ${OF_ENTITY} AND j.fingerprint = $4 AND j.seq > d.seq
  ), page AS (
    SELECT * FROM svc.journal j
    WHERE ${OF_ENTITY}
      AND j.seq > coalesce((SELECT s.seq FROM snapshot s), (SELECT d.seq FROM deletion d))
    ORDER BY j.seq LIMIT $5
  )
  SELECT ${DELETION}, NULL::int2, (SELECT count(*) FROM page), d.seq, NULL::int2, NULL::int8, NULL, NULL, NULL, NULL, NULL, NULL, NULL::int8
  FROM deletion d
  UNION ALL
  SELECT ${SNAPSHOT}, NULL, NULL, s.seq, NULL, NULL, NULL, s.state, NULL, NULL, NULL, NULL, s.crc FROM snapshot s
  UNION ALL
  SELECT 2, ${RECORD_COLUMNS} FROM (SELECT *, ${BYTES_BEFORE} AS before FROM page j) j
  WHERE before < ${BYTES_MAX}
  ORDER BY 1, 4`,
};

export class EntityReads {
  readonly #reading: Pick<ReadingSession, 'query'>;

  constructor(reading: Pick<ReadingSession, 'query'>) {
    this.#reading = reading;
  }

  /** Does what `Journal.read` does, up to the record `offMax` of the slice of the entity. */
  async read(
    entity: EntityRef,
    afterSeq: number,
    limit: number,
    offMax = Number.MAX_SAFE_INTEGER,
  ): Promise<readonly JournalRecord[]> {
    const rows = await this.#reading.query(READ, [...keyOf(entity), afterSeq, limit, offMax]);
    return pageOf(entity, rows, limit);
  }

  /** Does what `Journal.lastDeletion` does. */
  async lastDeletion(entity: EntityRef): Promise<number> {
    const [row] = await this.#reading.query(LAST_DELETION, keyOf(entity));
    return row![0] as number;
  }

  /** Does what `Journal.incarnation` does. A snapshot that is damaged is not used. */
  async incarnation(
    entity: EntityRef,
    limit: number,
    fingerprint: string | undefined,
  ): Promise<IncarnationStart> {
    const values = [...keyOf(entity), fingerprint ?? null, limit + 1];
    const [deletion, ...rows] = await this.#reading.query(INCARNATION, values);
    // The database may have found more records than it has sent.
    const foundCount = deletion![2] as number;
    let afterSeq = deletion![3] as number;
    let snapshot: string | undefined = undefined;
    if (rows[0]?.[0] === SNAPSHOT) {
      const [, , , seq, , , , state, , , , , crc] = rows.shift() as Row;
      if (crc !== snapshotChecksum(entity, fingerprint!, seq as number, state as string))
        return this.incarnation(entity, limit, undefined);
      afterSeq = seq as number;
      snapshot = state as string;
    }
    const sent = rows.map((row) => row.slice(1));
    const records = pageOf(entity, sent, limit);
    return { afterSeq, snapshot, records, isWhole: records.length === foundCount };
  }
}

/** Returns the checksum of a snapshot. */
export function snapshotChecksum(
  { component, id }: EntityRef,
  fingerprint: string,
  seq: number,
  state: string,
): number {
  return rowChecksum([component, id, fingerprint, seq, state]);
}

function keyOf({ component, id }: EntityRef): readonly [number, string, string] {
  return [sliceOf(component, id), component, id];
}

/** Returns the records of a page that ends after the record with which its text reaches READ_UNITS_MAX. */
function pageOf(entity: EntityRef, rows: readonly Row[], limit: number): readonly JournalRecord[] {
  const records: JournalRecord[] = [];
  let units = 0;
  for (const row of rows.slice(0, limit)) {
    const record = recordOfRow(entity, row);
    records.push(record);
    if (record.kind === 'event') units += record.event.json.length;
    if (units >= READ_UNITS_MAX) break;
  }
  return records;
}
