// JournalReader: what is on disk, read in the caller's thread through a connection of its own. It
// sees a record only after the fsync of its transaction.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { type KeptAnswer, READ_UNITS_MAX } from '../engine/needs/journal.ts';
import type { EntityRef, JournalRecord } from '../model/entity.ts';
import { printable } from '../model/printable.ts';
import { SvcError } from '../model/svc-error.ts';
import { openForReading } from './journal-file.ts';
import { KIND_DELETED, KIND_EVENT, type RecordRow, recordColumns } from './journal-schema.ts';
import { keptAnswerOf } from './kept-answer-row.ts';
import { isWhole } from './record-checksum.ts';
import { seedOf } from './seed-halves.ts';
import { journalFailure, sqliteCode } from './sqlite-failure.ts';

const ENO = '(SELECT eno FROM entity WHERE component = ? AND id = ?)';
const RECORDS = `SELECT ${recordColumns()} FROM journal WHERE eno = ${ENO}`;
const ANSWER = `SELECT key, digest, time_ms, outcome, crc FROM answer WHERE eno = ${ENO} AND key = ?`;

/** Many, since asking costs; not all, since each may have a megabyte. */
const ROWS_AT_ONCE = 128;

export class JournalReader {
  readonly #path: string;
  readonly #database: DatabaseSync;
  readonly #records: StatementSync;
  readonly #lastDeletion: StatementSync;
  readonly #answer: StatementSync;

  /** Throws SVC_JOURNAL_CORRUPT or SVC_JOURNAL_UNAVAILABLE. */
  constructor(path: string) {
    this.#path = path;
    try {
      this.#database = openForReading(path);
      this.#records = this.#prepare(RECORDS, 'AND seq > ? ORDER BY seq LIMIT ?');
      // The whole record, so that its checksum is looked at: a life begins where it says.
      this.#lastDeletion = this.#prepare(
        RECORDS,
        `AND kind = ${KIND_DELETED} ORDER BY seq DESC LIMIT 1`,
      );
      this.#answer = this.#prepare(ANSWER, '');
    } catch (error) {
      throw journalFailure(error, 'opened', path);
    }
  }

  /** As `Journal.read`. */
  read(entity: EntityRef, afterSeq: number, limit: number): JournalRecord[] {
    const records: JournalRecord[] = [];
    let units = 0;
    let last = afterSeq;
    while (records.length < limit) {
      const askedCount = Math.min(ROWS_AT_ONCE, limit - records.length);
      const rows = this.#rows(entity, last, askedCount);
      for (const row of rows) {
        const record = recordOf(entity, row);
        records.push(record);
        last = record.seq;
        if (record.kind === 'event') units += record.event.json.length;
        if (units >= READ_UNITS_MAX) return records;
      }
      if (rows.length < askedCount) break;
    }
    return records;
  }

  /** As `Journal.lastDeletion`. */
  lastDeletion(entity: EntityRef): number {
    try {
      const row = this.#lastDeletion.get(entity.component, entity.id);
      return row === undefined ? 0 : recordOf(entity, row as unknown as RecordRow).seq;
    } catch (error) {
      throw this.#failure(entity, error);
    }
  }

  /** As `Journal.answer`. */
  answer(entity: EntityRef, key: string): KeptAnswer | undefined {
    try {
      const row = this.#answer.get(entity.component, entity.id, key);
      return row === undefined ? undefined : keptAnswerOf(entity, row);
    } catch (error) {
      throw this.#failure(entity, error);
    }
  }

  close(): void {
    this.#database.close();
  }

  #rows(entity: EntityRef, afterSeq: number, limit: number): readonly RecordRow[] {
    try {
      const rows = this.#records.all(entity.component, entity.id, afterSeq, limit);
      return rows as unknown as readonly RecordRow[];
    } catch (error) {
      throw this.#failure(entity, error);
    }
  }

  #prepare(what: string, which: string): StatementSync {
    const statement = this.#database.prepare(`${what} ${which}`);
    statement.setReturnArrays(true);
    return statement;
  }

  #failure(entity: EntityRef, error: unknown): SvcError {
    // Not SQLite's: a column holds what this version of the format never writes.
    if (sqliteCode(error) === undefined && error instanceof RangeError)
      return damagedRecord(entity, 'a number in it is out of range', error);
    return journalFailure(error, 'read', this.#path);
  }
}

/** Throws SVC_JOURNAL_CORRUPT when it is not what was written. */
export function recordOf(entity: EntityRef, row: RecordRow): JournalRecord {
  const [, seq, kind, timeMs, manifest, json, , upper, lower, trace, key] = row;
  if (!isWhole(entity.component, entity.id, row))
    throw damagedRecord(entity, `the checksum of record ${seq} does not fit`);
  const told = {
    seq,
    timeMs,
    seed: seedOf(upper, lower),
    ...(trace === null ? {} : { trace }),
    ...(key === null ? {} : { key }),
  };
  if (kind === KIND_EVENT && manifest !== null && json !== null)
    return { kind: 'event', ...told, event: { manifest, json } };
  if (kind === KIND_DELETED) return { kind: 'deleted', ...told };
  throw damagedRecord(entity, `record ${seq} is neither an event nor a deletion`);
}

function damagedRecord({ component, id }: EntityRef, what: string, cause?: unknown): SvcError {
  return new SvcError(
    'SVC_JOURNAL_CORRUPT',
    `The journal of entity '${printable(id)}' of component '${printable(component)}' is damaged: ${what}. ` +
      'Restore the data folder from a backup; the other entities are not affected.',
    { cause },
  );
}
