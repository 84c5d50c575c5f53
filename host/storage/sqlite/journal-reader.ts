// JournalReader reads the journal in the caller's thread, through a connection of its own. It sees a record only after
// the fsync of the record's transaction.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { sqliteCode } from '@svc/kit/sqlite-code';
import {
  type StoredReply,
  type IncarnationStart,
  READ_UNITS_MAX,
} from '../../engine/needs/journal.ts';
import type { StoredTimer } from '../../engine/needs/timers.ts';
import type { EntityRef, JournalRecord, StoredEvent } from '@svc/model/entity';
import { printable } from '@svc/kit/printable';
import { SvcError } from '@svc/kit/svc-error';
import { EVENT_RUN, eventsOf } from './event-run.ts';
import { openForReading } from './journal-file.ts';
import { type RecordRow, countIn, recordColumns } from './journal-schema.ts';
import { storedReplyOf } from './stored-reply-row.ts';
import { isWhole } from './record-checksum.ts';
import { recordsOf } from './record-index.ts';
import { KIND_DELETED, kindOf } from './record-kind.ts';
import { seedOf } from './seed-halves.ts';
import type { FoundSnapshot } from './snapshot-reader.ts';
import { journalFailure } from './sqlite-failure.ts';
import { TimerReader } from './timer-reader.ts';

const ENTITY_NO = '(SELECT eno FROM entity WHERE component = ? AND id = ?)';
const RECORDS = recordsOf('?1', 'seq > ?2', countIn('?3'));
/**
 * Finds an entity's last deletion, through the index of deletions. The whole record is read to check its checksum,
 * because an incarnation begins there.
 */
const LAST_DELETION = `SELECT ${recordColumns()} FROM journal
  WHERE eno = ${ENTITY_NO} AND kind = ${KIND_DELETED} ORDER BY seq DESC LIMIT 1`;
/** Number of an entity's last deletion. As a part of INCARNATION this statement would take ten times as long. */
const LAST_DELETED_SEQ = `SELECT seq FROM journal WHERE eno = ? AND kind = ${KIND_DELETED} ORDER BY seq DESC LIMIT 1`;
/** Records of the current incarnation, from the record with which the state begins. */
const INCARNATION = recordsOf('?1', 'seq >= ?2', countIn('?3'));
const ANSWER = `SELECT key, digest, time_ms, outcome, crc FROM answer WHERE eno = ${ENTITY_NO} AND key = ?`;

/** Maximum number of rows of a query: many, because each query costs; not all, because a row may be a megabyte long. */
const ROWS_AT_ONCE = 128;
/** Index of the checksum in a RecordRow. */
const CRC = 6;
/** Page cache in KiB. An entity's records are far apart in the file, and all reads share the pages of the index. */
const CACHE_KIB = 32 * 1024;

export class JournalReader {
  readonly #path: string;
  readonly #database: DatabaseSync;
  readonly #records: StatementSync;
  readonly #lastDeletion: StatementSync;
  readonly #answer: StatementSync;
  readonly #number: StatementSync;
  readonly #lastDeletedSeq: StatementSync;
  readonly #incarnation: StatementSync;
  readonly #run: StatementSync;
  /** Made when the first timer is read, because most threads read none. */
  #timers: TimerReader | undefined = undefined;

  /** Throws SVC_JOURNAL_CORRUPT or SVC_JOURNAL_UNAVAILABLE. */
  constructor(path: string) {
    this.#path = path;
    try {
      this.#database = openForReading(path);
      this.#database.exec(`PRAGMA cache_size = -${CACHE_KIB}`);
      this.#records = this.#prepare(RECORDS);
      this.#lastDeletion = this.#prepare(LAST_DELETION);
      this.#answer = this.#prepare(ANSWER);
      this.#number = this.#prepare('SELECT eno FROM entity WHERE component = ? AND id = ?');
      this.#lastDeletedSeq = this.#prepare(LAST_DELETED_SEQ);
      this.#incarnation = this.#prepare(INCARNATION);
      this.#run = this.#prepare(EVENT_RUN);
    } catch (error) {
      throw journalFailure(error, 'opened', path);
    }
  }

  /** Synchronous `Journal.read`. */
  read(entity: EntityRef, afterSeq: number, limit: number): readonly JournalRecord[] {
    const page = new Page(entity, afterSeq, limit);
    const entityNo = this.#numberOf(entity);
    if (entityNo !== undefined) this.#fill(page, entityNo);
    return page.records;
  }

  /** Same as `Journal.eventsAfter`. */
  eventsAfter(entity: EntityRef, afterSeq: number, limit: number): readonly StoredEvent[] {
    const entityNo = this.#numberOf(entity);
    if (entityNo === undefined) return [];
    const [row] = this.#all(this.#run, entity, [entityNo, afterSeq, limit]);
    const value = row?.[0] as unknown;
    return value instanceof Uint8Array ? eventsOf(entity, afterSeq, value) : [];
  }

  /** Synchronous `Journal.incarnation`. `find` looks up the snapshot of the entity with this number. */
  incarnation(
    entity: EntityRef,
    limit: number,
    find?: (entityNo: number) => FoundSnapshot | undefined,
  ): IncarnationStart {
    const entityNo = this.#numberOf(entity);
    if (entityNo === undefined)
      return { afterSeq: 0, snapshot: undefined, records: [], isWhole: true };
    const snapshot = find?.(entityNo);
    const found = snapshot && this.#lifeSince(entity, entityNo, limit, snapshot);
    // A snapshot of another journal is ignored, whatever record this journal has at its position.
    return found ?? this.#lifeSince(entity, entityNo, limit, undefined)!;
  }

  /** Returns the current incarnation; undefined if the snapshot does not belong to a record of this journal. */
  #lifeSince(
    entity: EntityRef,
    entityNo: number,
    limit: number,
    snapshot: FoundSnapshot | undefined,
  ): IncarnationStart | undefined {
    const askedCount = Math.min(ROWS_AT_ONCE, limit + 1);
    // The state begins at the snapshot's record or at the last deletion, whichever is later. Nothing stores records of
    // this entity meanwhile.
    const [deletion] = this.#all(this.#lastDeletedSeq, entity, [entityNo]);
    const beginSeq = Math.max(snapshot?.seq ?? 0, deletion?.[0] ?? 0);
    const rows = this.#all(this.#incarnation, entity, [entityNo, beginSeq, askedCount]);
    const first = rows[0];
    const begin = first && recordOf(entity, first);
    const isDeletion = begin?.kind === 'deleted';
    if (snapshot !== undefined && !isDeletion)
      if (begin?.seq !== snapshot.seq || first![CRC] !== snapshot.recordCrc) return undefined;
    const state = isDeletion ? undefined : snapshot?.state;
    const hasBegin = isDeletion || state !== undefined;
    const afterSeq = hasBegin ? begin!.seq : 0;
    const page = new Page(entity, afterSeq, limit);
    const isFull = page.add(hasBegin ? rows.slice(1) : rows);
    const isEnd = rows.length < askedCount && !isFull;
    if (!isEnd && !isFull) this.#fill(page, entityNo);
    return { afterSeq, snapshot: state, records: page.records, isWhole: isEnd };
  }

  #fill(page: Page, entityNo: number): void {
    for (;;) {
      const askedCount = Math.min(ROWS_AT_ONCE, page.limit - page.records.length);
      const rows = this.#all(this.#records, page.entity, [entityNo, page.last, askedCount]);
      if (page.add(rows) || rows.length < askedCount) return;
    }
  }

  #numberOf(entity: EntityRef): number | undefined {
    const [row] = this.#all(this.#number, entity, [entity.component, entity.id]);
    return row?.[0];
  }

  /** Synchronous `Journal.lastDeletion`. */
  lastDeletion(entity: EntityRef): number {
    try {
      const row = this.#lastDeletion.get(entity.component, entity.id);
      return row === undefined ? 0 : recordOf(entity, row as unknown as RecordRow).seq;
    } catch (error) {
      throw this.#failure(entity, error);
    }
  }

  /** Synchronous `Journal.answer`. */
  answer(entity: EntityRef, key: string): StoredReply | undefined {
    try {
      const row = this.#answer.get(entity.component, entity.id, key);
      return row === undefined ? undefined : storedReplyOf(entity, row);
    } catch (error) {
      throw this.#failure(entity, error);
    }
  }

  /** Synchronous `Journal.timer`. */
  timer(number: number): StoredTimer | undefined {
    this.#timers ??= new TimerReader(this.#database, this.#path);
    return this.#timers.timer(number);
  }

  close(): void {
    this.#database.close();
  }

  #all(
    statement: StatementSync,
    entity: EntityRef,
    values: readonly (string | number)[],
  ): readonly RecordRow[] {
    try {
      return statement.all(...values) as unknown as readonly RecordRow[];
    } catch (error) {
      throw this.#failure(entity, error);
    }
  }

  #prepare(sql: string): StatementSync {
    const statement = this.#database.prepare(sql);
    statement.setReturnArrays(true);
    return statement;
  }

  #failure(entity: EntityRef, error: unknown): SvcError {
    // A RangeError that is not of SQLite: a column holds a value that this version of the format never writes.
    if (sqliteCode(error) === undefined && error instanceof RangeError)
      return damagedRecord(entity, 'a number in it is out of range', error);
    return journalFailure(error, 'read', this.#path);
  }
}

/** The result of a read while it is collected. */
class Page {
  readonly entity: EntityRef;
  readonly limit: number;
  readonly records: JournalRecord[] = [];
  /** `seq` of the last record; before there is one, `afterSeq`. */
  last: number;
  #units = 0;

  constructor(entity: EntityRef, afterSeq: number, limit: number) {
    this.entity = entity;
    this.last = afterSeq;
    this.limit = limit;
  }

  /** Adds records; returns whether the page is full. Throws SVC_JOURNAL_CORRUPT. */
  add(rows: readonly RecordRow[]): boolean {
    for (const row of rows) {
      const record = recordOf(this.entity, row);
      this.records.push(record);
      this.last = record.seq;
      if (record.kind === 'event') this.#units += record.event.json.length;
      if (this.#units >= READ_UNITS_MAX || this.records.length >= this.limit) return true;
    }
    return false;
  }
}

/** Returns the record in a row. Throws SVC_JOURNAL_CORRUPT when the row is not what was written. */
export function recordOf(entity: EntityRef, row: RecordRow): JournalRecord {
  const [, seq, kindNumber, timeMs, manifest, json, , upper, lower, trace, key, by] = row;
  if (!isWhole(entity.component, entity.id, row))
    throw damagedRecord(entity, `the checksum of record ${seq} does not fit`);
  const origin = {
    seq,
    timeMs,
    seed: seedOf(upper, lower),
    ...(trace === null ? {} : { trace }),
    ...(key === null ? {} : { key }),
    ...(by === null ? {} : { by }),
  };
  const kind = kindOf(kindNumber, manifest, json);
  if (kind === 'event') return { kind, ...origin, event: { manifest: manifest!, json: json! } };
  if (kind === 'deleted') return { kind, ...origin };
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
