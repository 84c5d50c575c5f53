// JournalReader: what is on disk, read in the caller's thread through a connection of its own. It
// sees a record only after the fsync of its transaction.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { EntityRef, JournalRecord } from '../model/entity.ts';
import { SvcError } from '../model/svc-error.ts';
import { KIND_DELETED, KIND_EVENT, openForReading } from './journal-file.ts';
import { recordChecksum } from './record-checksum.ts';
import { journalFailure, sqliteCode } from './sqlite-failure.ts';

const ENTITY = '(SELECT eno FROM entity WHERE component = ? AND id = ?)';

export class JournalReader {
  readonly #path: string;
  readonly #database: DatabaseSync;
  readonly #records: StatementSync;
  readonly #lastDeletion: StatementSync;

  /** Throws SVC_JOURNAL_CORRUPT or SVC_JOURNAL_UNAVAILABLE. */
  constructor(path: string) {
    this.#path = path;
    try {
      this.#database = openForReading(path);
      this.#records = this.#database.prepare(
        `SELECT seq, kind, time_ms, manifest, json, crc FROM journal
         WHERE eno = ${ENTITY} AND seq > ? ORDER BY seq LIMIT ?`,
      );
      this.#records.setReturnArrays(true);
      this.#lastDeletion = this.#database.prepare(
        `SELECT max(seq) AS seq FROM journal WHERE eno = ${ENTITY} AND kind = ${KIND_DELETED}`,
      );
    } catch (error) {
      throw journalFailure(error, 'opened', path);
    }
  }

  /** As `Journal.read`. */
  read(entity: EntityRef, afterSeq: number, limit: number): JournalRecord[] {
    let rows: unknown[][];
    try {
      rows = this.#records.all(
        entity.component,
        entity.id,
        afterSeq,
        limit,
      ) as unknown as unknown[][];
    } catch (error) {
      throw this.#failure(entity, error);
    }
    return rows.map((row) => this.#record(entity, row));
  }

  /** As `Journal.lastDeletion`. */
  lastDeletion(entity: EntityRef): number {
    try {
      return Number(this.#lastDeletion.get(entity.component, entity.id)?.['seq'] ?? 0);
    } catch (error) {
      throw this.#failure(entity, error);
    }
  }

  close(): void {
    this.#database.close();
  }

  #record(entity: EntityRef, row: readonly unknown[]): JournalRecord {
    const [seq, kind, timeMs, manifest, json, crc] = row as [
      number,
      number,
      number,
      string | null,
      string | null,
      number,
    ];
    const { component, id } = entity;
    if (crc !== recordChecksum(component, id, seq, kind, timeMs, manifest, json))
      throw damagedRecord(entity, `the checksum of record ${seq} does not fit`);
    if (kind === KIND_EVENT && manifest !== null && json !== null)
      return { kind: 'event', seq, timeMs, event: { manifest, json } };
    if (kind === KIND_DELETED) return { kind: 'deleted', seq, timeMs };
    throw damagedRecord(entity, `record ${seq} is neither an event nor a deletion`);
  }

  #failure(entity: EntityRef, error: unknown): SvcError {
    // Not SQLite's: a column holds what this version of the format never writes.
    if (sqliteCode(error) === undefined && error instanceof RangeError)
      return damagedRecord(entity, 'a number in it is out of range', error);
    return journalFailure(error, 'read', this.#path);
  }
}

function damagedRecord({ component, id }: EntityRef, what: string, cause?: unknown): SvcError {
  return new SvcError(
    'SVC_JOURNAL_CORRUPT',
    `The journal of entity '${id}' of component '${component}' is damaged: ${what}. ` +
      'Restore the data folder from a backup; the other entities are not affected.',
    { cause },
  );
}
