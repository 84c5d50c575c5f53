// SqliteInspection is the inspection of a journal in a data folder. It never creates the folder, the journal or the journal's log.
import type { SQLInputValue } from 'node:sqlite';
import type { EntityRef } from '@svc/model/entity';
import { printable } from '@svc/kit/printable';
import { SvcError } from '@svc/kit/svc-error';
import type {
  ComponentSummary,
  EntitySummary,
  InspectedPage,
  InspectedRecord,
  JournalInspection,
} from '../../journal-inspection.ts';
import { recordOf } from '../journal-reader.ts';
import type { RecordRow } from '../journal-schema.ts';
import { ReadingConnection, type StoredRow } from './reading-connection.ts';
import { lastOf, storedRecordsOf } from '../record-index.ts';
import { KIND_DELETED } from '../record-kind.ts';
import { journalDamaged } from '../sqlite-failure.ts';

/**
 * The number of an entity's deletions. Sequence numbers have no gaps, so the last one is the number of records,
 * however long the history. The literal `kind = 1` makes SQLite use the index `deletion`.
 */
const DELETIONS = `(SELECT count(*) FROM journal WHERE eno = e.eno AND kind = ${KIND_DELETED})`;
const eventsOf = (format: number) => `ifnull(${lastOf('seq', 'e.eno', format)}, 0) - ${DELETIONS}`;
const COMPONENTS = (format: number) => `SELECT component, count(*), sum(${eventsOf(format)})
  FROM entity e GROUP BY component ORDER BY component`;
const ENTITIES = (format: number) => `SELECT e.id, ${eventsOf(format)}, j.time_ms, j.kind
  FROM entity e LEFT JOIN journal j ON j.pos = ${lastOf('pos', 'e.eno', format)}
  WHERE e.component = ?1 AND e.id >= ?2 AND e.id < ?3 AND e.id <> ?4 ORDER BY e.id LIMIT ?5`;
const COUNT = () => `SELECT count(*) FROM (
  SELECT 1 FROM entity WHERE component = ?1 AND id >= ?2 AND id < ?3 LIMIT ?4)`;
const COMPONENT = () => 'SELECT 1 FROM entity WHERE component = ? LIMIT 1';
const ENTITY = () => 'SELECT 1 FROM entity WHERE component = ? AND id = ?';
const RECORDS = (format: number) =>
  storedRecordsOf(
    format,
    '(SELECT eno FROM entity WHERE component = ?1 AND id = ?2)',
    'seq > ?3',
    '?4',
  );

export class SqliteInspection implements JournalInspection {
  readonly #connection: ReadingConnection;

  /** Throws as its methods do. */
  constructor(dir: string) {
    this.#connection = new ReadingConnection(dir);
  }

  components(): ComponentSummary[] {
    return this.#rows(COMPONENTS).map(([component, entities, events]) => ({
      component: String(component),
      entities: Number(entities),
      events: Number(events),
    }));
  }

  entities(component: string, afterId: string, limit: number, prefix = ''): EntitySummary[] {
    let before = afterId;
    const range = [later(afterId, prefix), endOfPrefix(prefix), afterId, limit];
    return this.#rows(ENTITIES, component, ...range).map(([id, events, timeMs, kind]) => {
      // An id that is not a text cannot be found by its text, so paging by ids might never end.
      if (Buffer.compare(Buffer.from(String(id)), Buffer.from(before)) <= 0)
        throw journalDamaged(
          this.#connection.path,
          `an id of component '${printable(component)}' is no text`,
        );
      before = String(id);
      return {
        id: before,
        events: Number(events),
        lastTimeMs: timeMs === null ? undefined : Number(timeMs),
        deleted: Number(kind) === KIND_DELETED,
      };
    });
  }

  countEntities(component: string, prefix: string, max: number): number {
    return Number(this.#rows(COUNT, component, prefix, endOfPrefix(prefix), max)[0]?.[0]);
  }

  hasComponent(component: string): boolean {
    return this.#rows(COMPONENT, component).length > 0;
  }

  hasEntity({ component, id }: EntityRef): boolean {
    return this.#rows(ENTITY, component, id).length > 0;
  }

  records(entity: EntityRef, afterSeq: number, limit: number): InspectedPage {
    const records: InspectedRecord[] = [];
    let lastSeq = afterSeq;
    const rows = this.#rows(RECORDS, entity.component, entity.id, afterSeq, limit);
    for (const [index, row] of rows.entries()) {
      const seq = Number(row[1]);
      if (!Number.isSafeInteger(seq)) {
        records.push({ kind: 'damaged', seq: lastSeq + 1, problem: 'what follows has no number' });
        return { records, lastSeq, storedCount: index };
      }
      if (seq !== lastSeq + 1)
        records.push({ kind: 'damaged', seq: lastSeq + 1, problem: missing(lastSeq + 1, seq - 1) });
      records.push(inspected(entity, row));
      lastSeq = seq;
    }
    return { records, lastSeq, storedCount: rows.length };
  }

  close(): void {
    this.#connection.close();
  }

  #rows(
    sql: (format: number) => string,
    ...values: readonly SQLInputValue[]
  ): readonly StoredRow[] {
    return this.#connection.rows(sql, values);
  }
}

function inspected(entity: EntityRef, row: StoredRow): InspectedRecord {
  // Numbers are read as bigints.
  const fields = row.map((value) => (typeof value === 'bigint' ? Number(value) : value));
  try {
    return recordOf(entity, fields as unknown as RecordRow);
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    return { kind: 'damaged', seq: Number(row[1]), problem: 'it is not what was written' };
  }
}

/** Returns the later of two texts in the order of SQLite, which compares their bytes in UTF-8. */
function later(a: string, b: string): string {
  return Buffer.compare(Buffer.from(a), Buffer.from(b)) > 0 ? a : b;
}

const LAST_CODE_POINT = 0x10ffff;
const SURROGATES = { first: 0xd800, afterLast: 0xe000 };

/** Returns the least value above every text that begins with `prefix`. In SQLite's order a blob is above every text. */
function endOfPrefix(prefix: string): string | Uint8Array {
  const points = Array.from(prefix, (unit) => unit.codePointAt(0)!);
  while (points.at(-1) === LAST_CODE_POINT) points.pop();
  const last = points.pop();
  if (last === undefined) return new Uint8Array();
  const next = last + 1 === SURROGATES.first ? SURROGATES.afterLast : last + 1;
  return String.fromCodePoint(...points, next);
}

function missing(from: number, to: number): string {
  return from === to ? `record ${from} is missing` : `records ${from} to ${to} are missing`;
}
