// DatabaseInspection is the inspection of a journal in a database. Each read is one statement or a few, which hold no lock that a writer
// waits for.
import type { EntityRef } from '@svc/model/entity';
import { sliceOf } from '@svc/model/slice';
import type {
  ComponentSummary,
  EntitySummary,
  InspectedPage,
  InspectedRecord,
  JournalInspection,
} from '../../journal-inspection.ts';
import type { JournalInDatabase } from '../../journal-location.ts';
import type { Row } from '../database-session.ts';
import { safeNumber } from '../safe-number.ts';
import { readEnds } from './commit-order.ts';
import { DatabaseReader } from './database-reader.ts';
import { findIds } from './entity-ids.ts';
import { NOT_WRITTEN, READABLE_COLUMNS, SEQ, missing, readableRecord } from './readable-record.ts';
import { slicesAtOnce } from './slice-ranges.ts';

const DELETED = 1;

/** The first two read entries of indexes alone, if the tables are vacuumed. */
const COUNTS = {
  name: 'tool-components',
  text: `SELECT component, sum(entities), sum(records), sum(deletions) FROM (
    SELECT e.component, count(*) AS entities, sum(e.records) AS records, 0 AS deletions FROM (
      SELECT component, count(*) AS records FROM svc.journal
      WHERE slice >= $1::int2 AND slice < $2::int2 GROUP BY slice, component, id
    ) e GROUP BY e.component
    UNION ALL
    SELECT component, 0, 0, count(*) FROM svc.journal
    WHERE kind = ${DELETED} AND slice >= $1::int2 AND slice < $2::int2 GROUP BY component
    UNION ALL
    SELECT r.component, count(DISTINCT r.id), 0, 0 FROM svc.reply r
    WHERE r.slice >= $1::int2 AND r.slice < $2::int2 AND NOT EXISTS (
      SELECT FROM svc.journal j WHERE j.slice = r.slice AND j.component = r.component AND j.id = r.id
    ) GROUP BY r.component
  ) c GROUP BY component`,
};
const DETAILS = {
  name: 'tool-entities',
  text: `SELECT l.seq, l.time_ms, l.kind, (
    SELECT count(*) FROM svc.journal d WHERE d.slice = e.slice AND d.component = $3 AND d.id = e.id AND d.kind = ${DELETED}
  ) FROM unnest($1::int2[], $2::text[]) WITH ORDINALITY AS e(slice, id, nth)
  LEFT JOIN LATERAL (
    SELECT ${safeNumber('j.seq')} AS seq, ${safeNumber('j.time_ms')} AS time_ms, j.kind FROM svc.journal j
    WHERE j.slice = e.slice AND j.component = $3 AND j.id = e.id ORDER BY j.seq DESC LIMIT 1
  ) l ON true ORDER BY e.nth`,
};
const HAS_ENTITY = {
  text: `SELECT EXISTS (SELECT FROM svc.journal WHERE slice = $1 AND component = $2 AND id = $3)
    OR EXISTS (SELECT FROM svc.reply WHERE slice = $1 AND component = $2 AND id = $3)`,
};
const RECORDS = {
  name: 'tool-records',
  text: `SELECT ${READABLE_COLUMNS} FROM svc.journal j
  WHERE j.slice = $1 AND j.component = $2 AND j.id = $3 AND j.seq > $4 ORDER BY j.seq LIMIT $5`,
};

export class DatabaseInspection implements JournalInspection {
  readonly #reader: DatabaseReader;

  constructor(location: JournalInDatabase) {
    this.#reader = new DatabaseReader(location);
  }

  async components(): Promise<readonly ComponentSummary[]> {
    const found = new Map<string, { entities: number; events: number }>();
    for (const range of slicesAtOnce(await readEnds(this.#reader)))
      for (const row of await this.#reader.query(COUNTS, range)) {
        const component = row[0] as string;
        // Sums come as texts.
        const [entities, records, deletions] = row.slice(1).map(Number) as [number, number, number];
        const sum = found.get(component) ?? { entities: 0, events: 0 };
        found.set(component, {
          entities: sum.entities + entities,
          events: sum.events + records - deletions,
        });
      }
    return [...found]
      .map(([component, counts]) => ({ component, ...counts }))
      .toSorted((a, b) => Buffer.compare(Buffer.from(a.component), Buffer.from(b.component)));
  }

  async entities(
    component: string,
    afterId: string,
    limit: number,
    prefix = '',
  ): Promise<readonly EntitySummary[]> {
    const ids = await findIds(this.#reader, { component, prefix, afterId, limit });
    const rows = await this.#reader.query(DETAILS, [
      ids.map(({ slice }) => slice),
      ids.map(({ id }) => id),
      component,
    ]);
    return ids.map(({ id }, index) => summaryOf(id, rows[index]!));
  }

  async countEntities(component: string, prefix: string, max: number): Promise<number> {
    return (await findIds(this.#reader, { component, prefix, afterId: '', limit: max })).length;
  }

  async hasComponent(component: string): Promise<boolean> {
    return (await this.countEntities(component, '', 1)) > 0;
  }

  async hasEntity({ component, id }: EntityRef): Promise<boolean> {
    const [row] = await this.#reader.query(HAS_ENTITY, [sliceOf(component, id), component, id]);
    return row![0] as boolean;
  }

  async records(entity: EntityRef, afterSeq: number, limit: number): Promise<InspectedPage> {
    const { component, id } = entity;
    const key = [sliceOf(component, id), component, id] as const;
    const rows = await this.#reader.query(RECORDS, [...key, afterSeq, limit]);
    return inspectedPage(entity, rows, afterSeq);
  }

  close(): void {
    this.#reader.close();
  }
}

/** Returns the records of an entity in rows of READABLE_COLUMNS that follow a record, with an entry for each gap between them. */
export function inspectedPage(
  entity: EntityRef,
  rows: readonly Row[],
  afterSeq: number,
): InspectedPage {
  const records: InspectedRecord[] = [];
  let lastSeq = afterSeq;
  for (const row of rows) {
    const seq = row[SEQ] as number;
    const next = lastSeq + 1;
    if (seq > next)
      records.push({ kind: 'damaged', seq: next, problem: missing('record', next, seq - 1) });
    records.push(readableRecord(entity, row) ?? { kind: 'damaged', seq, problem: NOT_WRITTEN });
    lastSeq = seq;
  }
  return { records, lastSeq, storedCount: rows.length };
}

function summaryOf(id: string, row: Row): EntitySummary {
  const [seq, timeMs, kind, deletions] = row as readonly [
    number | null,
    number | null,
    number | null,
    number,
  ];
  return {
    id,
    events: (seq ?? 0) - deletions,
    lastTimeMs: timeMs ?? undefined,
    deleted: kind === DELETED,
  };
}
