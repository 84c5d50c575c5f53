// DatabaseHistoryScan reads the histories of many entities of a component, in the order of their ids, by pages that hold the records of
// as many entities as fit. It continues past damage, and reports it.
import { sliceOf } from '@svc/model/slice';
import { READ_UNITS_MAX } from '../../../engine/needs/journal.ts';
import type { HistoryScan, ScannedHistory } from '../../journal-inspection.ts';
import type { JournalInDatabase } from '../../journal-location.ts';
import { DatabaseReader } from './database-reader.ts';
import { findIds } from './entity-ids.ts';
import { inspectedPage } from './journal-inspection.ts';
import { READABLE_COLUMNS } from './readable-record.ts';

/** Entities of a page at most. */
const PAGE_ENTITIES = 512;
/** Records of a page at most. */
const PAGE_RECORDS = 1_024;
/** Bytes of events after which a page ends. */
const PAGE_BYTES = READ_UNITS_MAX;

/** The scan reads no more of an entity than a page may have. */
const HISTORIES = {
  name: 'tool-histories',
  text: `SELECT j.nth, ${READABLE_COLUMNS} FROM (
    SELECT n.*, sum(n.bytes) OVER (ORDER BY n.nth, n.seq ROWS UNBOUNDED PRECEDING) - n.bytes AS before
    FROM (
      SELECT e.nth, r.* FROM unnest($1::int2[], $2::text[]) WITH ORDINALITY AS e(slice, id, nth)
      CROSS JOIN LATERAL (
        SELECT j.*, coalesce(octet_length(j.event), 0) AS bytes FROM svc.journal j
        WHERE j.slice = e.slice AND j.component = $3 AND j.id = e.id ORDER BY j.seq LIMIT ${PAGE_RECORDS}
      ) r ORDER BY e.nth, r.seq LIMIT ${PAGE_RECORDS}
    ) n
  ) j WHERE j.before < ${PAGE_BYTES} ORDER BY j.nth, j.seq`,
};
const COUNT = {
  name: 'tool-history-lengths',
  text: `SELECT (
    SELECT count(*) FROM (
      SELECT FROM svc.journal j WHERE j.slice = e.slice AND j.component = $3 AND j.id = e.id LIMIT ${PAGE_RECORDS}
    ) n
  ) FROM unnest($1::int2[], $2::text[]) WITH ORDINALITY AS e(slice, id, nth) ORDER BY e.nth`,
};

export class DatabaseHistoryScan implements HistoryScan {
  readonly #reader: DatabaseReader;

  constructor(location: JournalInDatabase) {
    this.#reader = new DatabaseReader(location);
  }

  async page(
    component: string,
    afterId: string,
    lastId: string,
  ): Promise<readonly ScannedHistory[]> {
    const found = await findIds(this.#reader, {
      component,
      prefix: '',
      afterId,
      limit: PAGE_ENTITIES,
    });
    const last = Buffer.from(lastId);
    const ids = found.map(({ id }) => id).filter((id) => Buffer.from(id).compare(last) <= 0);
    const key = [ids.map((id) => sliceOf(component, id)), ids, component];
    const counts = (await this.#reader.query(COUNT, key)).map(([count]) => count as number);
    const rows = await this.#reader.query(HISTORIES, key);
    const byEntity = Map.groupBy(rows, ([nth]) => (nth as number) - 1);
    // The page ends with the first entity of which not all was read.
    const histories: ScannedHistory[] = [];
    for (const [index, id] of ids.entries()) {
      const stored = (byEntity.get(index) ?? []).map((row) => row.slice(1));
      const isWhole = stored.length === counts[index] && stored.length < PAGE_RECORDS;
      if (isWhole || stored.length > 0 || histories.length === 0)
        histories.push({ id, isWhole, ...inspectedPage({ component, id }, stored, 0) });
      if (!isWhole) break;
    }
    return histories;
  }

  close(): void {
    this.#reader.close();
  }
}
