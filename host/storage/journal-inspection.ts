// JournalInspection: a data folder looked at by a person. It reads only, also while a host runs on the
// folder, and goes on past damage, which it names. It never makes the folder, the journal or its log.
import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import type { EntityRef, JournalRecord } from '../model/entity.ts';
import { printable } from '../model/printable.ts';
import { SvcError } from '../model/svc-error.ts';
import { inspectJournalFile, journalPath, openForReading } from './journal-file.ts';
import { KIND_DELETED, type RecordRow, recordColumns } from './journal-schema.ts';
import { recordOf } from './journal-reader.ts';
import { journalDamaged, journalFailure } from './sqlite-failure.ts';

export interface ComponentSummary {
  readonly component: string;
  readonly entities: number;
  readonly events: number;
}

export interface EntitySummary {
  readonly id: string;
  readonly events: number;
  /** Of its last record; undefined when it has none, which is damage. */
  readonly lastTimeMs: number | undefined;
  /** Its last record is a deletion. */
  readonly deleted: boolean;
}

/** A record as it is stored, or what is wrong in its place. */
export type InspectedRecord =
  | JournalRecord
  | { readonly kind: 'damaged'; readonly seq: number; readonly problem: string };

export interface InspectedPage {
  readonly records: readonly InspectedRecord[];
  /** With which the next page is asked for. */
  readonly lastSeq: number;
  /** How many of the records are stored: less than were asked for at the end. */
  readonly storedCount: number;
}

/**
 * Sequence numbers have no gaps, so the last one counts the records: an entity costs a step in the
 * index, however long its history. `kind = 1` as it stands there has SQLite use the index `deletion`.
 */
const DELETIONS = `(SELECT count(*) FROM journal WHERE eno = e.eno AND kind = ${KIND_DELETED})`;
const EVENTS = `ifnull((SELECT max(seq) FROM journal WHERE eno = e.eno), 0) - ${DELETIONS}`;
const LAST = 'FROM journal WHERE eno = e.eno ORDER BY seq DESC LIMIT 1';
const COMPONENTS = `SELECT component, count(*), sum(${EVENTS}) FROM entity e
  GROUP BY component ORDER BY component`;
const ENTITIES = `SELECT id, ${EVENTS}, (SELECT time_ms ${LAST}), (SELECT kind ${LAST}) FROM entity e
  WHERE component = ? AND id > ? ORDER BY id LIMIT ?`;
const COMPONENT = 'SELECT 1 FROM entity WHERE component = ? LIMIT 1';
/** A journal of a format before is left as it is. */
const FORMAT = 'SELECT user_version FROM pragma_user_version';
const ENTITY = 'SELECT 1 FROM entity WHERE component = ? AND id = ?';
const RECORDS = `FROM journal
  WHERE eno = (SELECT eno FROM entity WHERE component = ? AND id = ?) AND seq > ? ORDER BY seq LIMIT ?`;

/** A view of such a name could compute without end. */
const TABLES = `SELECT name FROM pragma_table_list
  WHERE schema = 'main' AND type = 'table' AND name IN ('entity', 'journal')`;

type Row = readonly unknown[];

/**
 * Throws SVC_JOURNAL_MISSING, SVC_JOURNAL_NEWER, SVC_JOURNAL_CORRUPT, SVC_DATA_UNUSABLE and
 * SVC_JOURNAL_UNAVAILABLE, and so does what it returns.
 */
export function inspectJournal(dir: string): JournalInspection {
  return new JournalInspection(resolve(dir));
}

export class JournalInspection {
  readonly #path: string;
  #database: DatabaseSync | undefined = undefined;
  /** The file as it was when it was opened without its log; undefined when it has one. */
  #unchanging: string | undefined = undefined;

  constructor(dir: string) {
    this.#path = journalPath(dir);
    // A pipe of that name would be waited for.
    if (statSync(this.#path, { throwIfNoEntry: false })?.isFile() === false)
      throw journalDamaged(this.#path, 'it is not a file');
    if (!inspectJournalFile(this.#path, 'read'))
      throw new SvcError(
        'SVC_JOURNAL_MISSING',
        `There is no journal in ${dir}${existsSync(dir) ? '' : ', which does not exist'}. ` +
          `Name the folder that svc run has kept it in: ${join('.svc', 'NAME')}, unless --data said otherwise.`,
      );
  }

  /** Sorted by id. */
  components(): ComponentSummary[] {
    return this.#rows(COMPONENTS).map(([component, entities, events]) => ({
      component: String(component),
      entities: Number(entities),
      events: Number(events),
    }));
  }

  /** Those of a component with `id > afterId`, sorted by id, at most `limit`. */
  entities(component: string, afterId: string, limit: number): EntitySummary[] {
    let before = afterId;
    return this.#rows(ENTITIES, component, afterId, limit).map(([id, events, timeMs, kind]) => {
      // Such an id would not be found by its text, and asking for those after it might never end.
      if (Buffer.compare(Buffer.from(String(id)), Buffer.from(before)) <= 0)
        throw journalDamaged(this.#path, `an id of component '${printable(component)}' is no text`);
      before = String(id);
      return {
        id: before,
        events: Number(events),
        lastTimeMs: timeMs === null ? undefined : Number(timeMs),
        deleted: Number(kind) === KIND_DELETED,
      };
    });
  }

  hasComponent(component: string): boolean {
    return this.#rows(COMPONENT, component).length > 0;
  }

  hasEntity({ component, id }: EntityRef): boolean {
    return this.#rows(ENTITY, component, id).length > 0;
  }

  /** Those with `seq > afterSeq`, oldest first, at most `limit` and what is missing between them. */
  records(entity: EntityRef, afterSeq: number, limit: number): InspectedPage {
    const records: InspectedRecord[] = [];
    let lastSeq = afterSeq;
    const sql = `SELECT ${recordColumns(Number(this.#rows(FORMAT)[0]?.[0]))} ${RECORDS}`;
    const rows = this.#rows(sql, entity.component, entity.id, afterSeq, limit);
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
    this.#database?.close();
    this.#database = undefined;
  }

  /** All of them at once: no read transaction is held while somebody looks at what was read. */
  #rows(sql: string, ...values: readonly SQLInputValue[]): readonly Row[] {
    try {
      for (;;) {
        this.#database ??= this.#checked(this.#open());
        const statement = this.#database.prepare(sql);
        statement.setReturnArrays(true);
        // A damaged number may be larger than JavaScript's.
        statement.setReadBigInts(true);
        const rows = statement.all(...values) as unknown as readonly Row[];
        if (this.#unchanging === undefined || this.#unchanging === this.#state()) return rows;
        this.close();
      }
    } catch (error) {
      throw journalFailure(error, 'read', this.#path);
    }
  }

  /**
   * A journal whose host has ended in good order has no log, and a reader would make one: such a file
   * is read as one that does not change, and read again should a host have started meanwhile.
   */
  #open(): DatabaseSync {
    this.#unchanging = this.#state();
    if (this.#unchanging === undefined) return openForReading(this.#path);
    const address = pathToFileURL(this.#path);
    address.searchParams.set('immutable', '1');
    return new DatabaseSync(address, { readOnly: true });
  }

  #checked(database: DatabaseSync): DatabaseSync {
    try {
      if (database.prepare(TABLES).all().length === 2) return database;
      throw journalDamaged(this.#path, 'it has other tables than a journal');
    } catch (error) {
      database.close();
      throw error;
    }
  }

  /** What tells that the file has not changed; undefined when a log is there. */
  #state(): string | undefined {
    const { ino, size, mtimeNs } = statSync(this.#path, { bigint: true });
    return existsSync(`${this.#path}-wal`) ? undefined : `${ino} ${size} ${mtimeNs}`;
  }
}

function inspected(entity: EntityRef, row: Row): InspectedRecord {
  // Numbers came large; of texts there is no number to make.
  const fields = row.map((value) => (typeof value === 'bigint' ? Number(value) : value));
  try {
    return recordOf(entity, fields as unknown as RecordRow);
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    return { kind: 'damaged', seq: Number(row[1]), problem: 'it is not what was written' };
  }
}

function missing(from: number, to: number): string {
  return from === to ? `record ${from} is missing` : `records ${from} to ${to} are missing`;
}
