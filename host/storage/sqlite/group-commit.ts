// GroupCommit owns the database connection that writes. It stores the waiting appends of many entities in one
// transaction, so that all of them share one fsync.
//
// Invariants:
// - G1 The number (`seq`) of a stored record is that of its entity's last record plus one. An append that would break
//   this rule fails, and the other appends of the transaction are stored.
// - G2 `pos` grows by one with every stored record.
// - G3 A failed transaction changes nothing on disk. It restores the positions and the count of timers of this object, and clears
//   its cache of tails.
// - G4 A command's records, its stored reply and its changes of timers are stored in one transaction.
// - G5 Every stored record has its index entry (record-index.ts) before the last record of its entity is looked up,
//   and before the transaction ends.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { printable } from '@svc/kit/printable';
import { SvcError } from '@svc/kit/svc-error';
import {
  type Append,
  type AppendBatch,
  FIELDS_PER_RECORD,
  JSON_FIELD,
  TIME_FIELD,
} from './journal-message.ts';
import type { JournalQuota } from './journal-quota.ts';
import type { RecordRow } from './journal-schema.ts';
import { FORGOTTEN_WHEN_FULL, StoredReplies } from './stored-replies.ts';
import { recordChecksum } from './record-checksum.ts';
import { lastOf } from './record-index.ts';
import { KIND_DELETED, KIND_EVENT } from './record-kind.ts';
import { isOfMachineOrFile, journalFailure } from './sqlite-failure.ts';
import type { StoredTimers } from './stored-timers.ts';

/** Maximum number of entities whose tail is cached, so that most appends need no lookup. */
const TAILS_MAX = 200_000;

interface Tail {
  readonly entityNo: number;
  /** Number of the entity's last record; 0 if it has none. */
  seq: number;
  /**
   * Event type (manifest) of the entity's last event, which the table of event types already has; undefined if it is
   * unknown.
   */
  manifest: string | null | undefined;
}

/** Stands for an entity of which nothing was ever stored. No timer belongs to this number. */
const NEVER_STORED: Tail = { entityNo: -1, seq: 0, manifest: undefined };

/** Decides whether a queued append may still be stored, after earlier appends of its user have failed. */
export interface AppendGate {
  /** Returns the failure of an append that must not be stored; undefined if it may be stored. */
  refusalOf(append: Append): SvcError | undefined;
  /** Notes that the append was not stored. */
  failed(append: Append): void;
}

export interface QueuedAppend {
  readonly append: Append;
  readonly gate: AppendGate;
}

export class GroupCommit {
  readonly #database: DatabaseSync;
  readonly #path: string;
  readonly #quota: JournalQuota;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #findEntity: StatementSync;
  readonly #addEntity: StatementSync;
  readonly #findTail: StatementSync;
  readonly #addRecord: StatementSync;
  readonly #addEntries: StatementSync;
  readonly #addManifest: StatementSync;
  readonly #answers: StoredReplies;
  readonly #timers: StoredTimers;
  #nextPos: number;
  /** Position of the first record that has no index entry yet. */
  #unindexedPos: number;
  readonly #tails = new Map<string, Map<string, Tail>>();
  #tailCount = 0;

  /** Throws errors of SQLite. */
  constructor(database: DatabaseSync, path: string, quota: JournalQuota, timers: StoredTimers) {
    this.#database = database;
    this.#path = path;
    this.#quota = quota;
    this.#begin = database.prepare('BEGIN IMMEDIATE');
    this.#commit = database.prepare('COMMIT');
    this.#findEntity = database.prepare('SELECT eno FROM entity WHERE component = ? AND id = ?');
    this.#addEntity = database.prepare('INSERT INTO entity (component, id) VALUES (?, ?)');
    this.#findTail = database.prepare(`SELECT ${lastOf('seq', '?1')} AS seq`);
    this.#addRecord = database.prepare(
      'INSERT INTO journal VALUES (?, ?, ?, ?, ?, ?, ?, ?, (? << 32) | ?, ?, ?, ?)',
    );
    this.#addEntries = database.prepare(
      'INSERT INTO place_new SELECT eno, seq, pos FROM journal WHERE pos >= ? AND pos < ?',
    );
    this.#addManifest = database.prepare('INSERT OR IGNORE INTO manifest VALUES (?, ?)');
    this.#answers = new StoredReplies(database);
    this.#timers = timers;
    const last = database.prepare('SELECT max(pos) AS pos FROM journal').get();
    this.#nextPos = Number(last?.['pos'] ?? 0) + 1;
    this.#unindexedPos = this.#nextPos;
  }

  /** Position of the last record; 0 when there is none. */
  get lastPos(): number {
    return this.#nextPos - 1;
  }

  /** Stores the appends in one transaction. Returns for each of them its failure, or undefined if it is on disk. */
  store(queued: readonly QueuedAppend[]): readonly (SvcError | undefined)[] {
    try {
      return this.#transaction(queued);
    } catch (error) {
      // If SQLite refuses one of the appends, each is stored in its own transaction, so that the others do not fail.
      if (queued.length > 1 && !isOfMachineOrFile(error))
        return queued.map((one) => this.store([one])[0]);
      const failure = journalFailure(error, 'written', this.#path);
      for (const { append, gate } of queued) gate.failed(append);
      return queued.map(() => failure);
    }
  }

  #transaction(queued: readonly QueuedAppend[]): readonly (SvcError | undefined)[] {
    const nextPos = this.#nextPos;
    const timerCount = this.#timers.count;
    try {
      this.#begin.run();
      const outcomes = queued.map(({ append, gate }) => {
        const failure =
          gate.refusalOf(append) ??
          this.#quota.refusalOf(append, this.#indexNew) ??
          this.#insert(append);
        if (failure !== undefined) this.#refused(append, gate, failure);
        return failure;
      });
      this.#forgetMore(queued, outcomes);
      this.#indexNew();
      this.#commit.run();
      return outcomes;
    } catch (error) {
      this.#nextPos = nextPos;
      this.#unindexedPos = nextPos;
      this.#timers.restore(timerCount);
      this.#forgetTails();
      // After some errors SQLite has already rolled the transaction back.
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw error;
    }
  }

  /** Removes some expired replies if the last append that the transaction stores has records but no reply. */
  #forgetMore(queued: readonly QueuedAppend[], outcomes: readonly (SvcError | undefined)[]): void {
    const last = queued.findLast((_, index) => outcomes[index] === undefined)?.append;
    const timeMs = last?.fields[TIME_FIELD];
    if (last?.answer === undefined && typeof timeMs === 'number') this.#answers.forgetMore(timeMs);
  }

  #refused(append: Append, gate: AppendGate, { code }: SvcError): void {
    gate.failed(append);
    const { answer } = append;
    // No reply is stored in a full journal, so expired ones are removed here.
    if (code === 'SVC_JOURNAL_FULL' && answer !== undefined)
      this.#answers.forget(answer, FORGOTTEN_WHEN_FULL);
  }

  /**
   * Stores an append in the open transaction. Returns the failure of an append that breaks G1, or whose changes of timers
   * cannot be made, of which nothing is stored; undefined if the append is stored.
   */
  #insert(append: Append): SvcError | undefined {
    const { component, id, firstSeq, trace, key, by, answer, timers, fields } = append;
    const tail =
      this.#knownTail(component, id) ??
      (isOfEntity(append) ? this.#newTail(component, id) : NEVER_STORED);
    const { entityNo } = tail;
    if (fields.length > 0 && firstSeq !== tail.seq + 1)
      return new SvcError(
        'SVC_JOURNAL_UNAVAILABLE',
        `Record ${firstSeq} of entity '${printable(id)}' of component '${printable(component)}' ` +
          `was not stored, because its last record is ${tail.seq}: somebody else writes to this entity. Try again.`,
      );
    const isDeleted = hasDeletion(fields);
    const plan =
      timers && this.#timers.plan({ entityNo, entity: { component, id } }, timers, isDeleted);
    if (plan instanceof SvcError) return plan;
    // Before all other changes, because it may refuse the append.
    const gone = plan && this.#timers.endFiring(plan);
    if (gone !== undefined) return gone;
    for (let at = 0; at < fields.length; at += FIELDS_PER_RECORD) {
      const kind = fields[at] as number;
      const timeMs = fields[at + TIME_FIELD] as number;
      const upper = fields[at + 2] as number | null;
      const lower = fields[at + 3] as number | null;
      const manifest = fields[at + 4] as string | null;
      const json = fields[at + JSON_FIELD] as string | null;
      const seq = tail.seq + 1;
      const pos = this.#nextPos;
      const row: RecordRow = [
        pos,
        seq,
        kind,
        timeMs,
        manifest,
        json,
        0,
        upper,
        lower,
        trace,
        key,
        by,
      ];
      const crc = recordChecksum(component, id, row);
      if (kind === KIND_EVENT && manifest !== tail.manifest) {
        this.#addManifest.run(component, manifest);
        tail.manifest = manifest;
      }
      this.#addRecord.run(
        pos,
        entityNo,
        seq,
        kind,
        timeMs,
        manifest,
        json,
        crc,
        upper,
        lower,
        trace,
        key,
        by,
      );
      tail.seq = seq;
      this.#nextPos++;
    }
    if (answer !== undefined) this.#answers.keep(entityNo, component, id, answer);
    if (plan !== undefined) this.#timers.carryOut(plan);
    else if (isDeleted) this.#timers.removeAll(entityNo);
    return undefined;
  }

  /**
   * Adds the index entries of all new records in one statement; one statement per record would double the cost of a
   * record.
   */
  readonly #indexNew = (): void => {
    if (this.#unindexedPos === this.#nextPos) return;
    this.#addEntries.run(this.#unindexedPos, this.#nextPos);
    this.#unindexedPos = this.#nextPos;
  };

  /** Returns the tail of an entity; undefined if nothing was ever stored of it. */
  #knownTail(component: string, id: string): Tail | undefined {
    const known = this.#tails.get(component)?.get(id);
    if (known !== undefined) return known;
    const found = this.#findEntity.get(component, id)?.['eno'];
    if (found === undefined) return undefined;
    const seq = Number(this.#findTail.get(found)?.['seq'] ?? 0);
    return this.#cached(component, id, { entityNo: Number(found), seq, manifest: undefined });
  }

  #newTail(component: string, id: string): Tail {
    const entityNo = Number(this.#addEntity.run(component, id).lastInsertRowid);
    return this.#cached(component, id, { entityNo, seq: 0, manifest: undefined });
  }

  #cached(component: string, id: string, tail: Tail): Tail {
    if (this.#tailCount >= TAILS_MAX) {
      this.#indexNew();
      this.#forgetTails();
    }
    let ofComponent = this.#tails.get(component);
    if (ofComponent === undefined) this.#tails.set(component, (ofComponent = new Map()));
    ofComponent.set(id, tail);
    this.#tailCount++;
    return tail;
  }

  #forgetTails(): void {
    this.#tails.clear();
    this.#tailCount = 0;
  }
}

/** Whether something of the entity is stored, and not only timers are cancelled or a firing is ended. */
function isOfEntity({ fields, answer, timers }: Append): boolean {
  if (fields.length > 0 || answer !== undefined) return true;
  return timers?.changes.some(({ kind }) => kind === 'set') === true;
}

function hasDeletion(fields: AppendBatch): boolean {
  for (let at = 0; at < fields.length; at += FIELDS_PER_RECORD)
    if (fields[at] === KIND_DELETED) return true;
  return false;
}
