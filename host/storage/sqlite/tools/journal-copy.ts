// JournalCopy makes a journal from the records of another one, in their order, its stored replies and modules, and
// its timers, consumers and lanes. The records keep their checksums. The file has a temporary name until it is complete on disk, so that a journal in the
// folder is always complete.
//
// Invariants
// C1  A record is copied only if it matches its checksum, its position follows that of the record before it, and its
//     sequence number follows that of its entity's record before it.
// C2  A folder that holds other files is not changed.
import { existsSync, linkSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { SvcError } from '@svc/kit/svc-error';
import { sqliteCode } from '@svc/kit/sqlite-code';
import { createJournalFile, journalPath, sync } from '../journal-file.ts';
import type { RecordRow } from '../journal-schema.ts';
import type { ModuleRow } from './journal-source.ts';
import type { StoredReplyRow } from '../stored-reply-row.ts';
import { isWhole } from '../record-checksum.ts';
import { lastOf } from '../record-index.ts';
import { kindOf } from '../record-kind.ts';
import { SQLITE_CONSTRAINT, fileFailure } from '../sqlite-failure.ts';
import type { StoredTimer } from '../../../engine/needs/timers.ts';
import type { ConsumerRow, LaneRow } from '../consumer-rows.ts';
import { TimerCopy } from './timer-copy.ts';

/** Maximum number of entities whose tails are cached, and of event types that are known to be stored. */
const TAILS_MAX = 200_000;
/** Number of records whose index entries are added together, sorted by entity, so that they touch fewer pages. */
const INDEXED_AT_ONCE = 65_536;
/** Page cache in KiB. */
const CACHE_KIB = 64 * 1024;
const UNFINISHED = 'journal.sqlite.unfinished';
/** Names that an empty folder may hold: leftovers of an interrupted copy, and a folder that file systems create. */
const NAMES_IGNORED = /^(journal\.sqlite\.unfinished(\.new)?(-journal|-wal|-shm)?|lost\+found)$/;

/** Number of an entity, and the sequence number of its last record. */
interface Tail {
  readonly entityNo: number;
  seq: number;
}

export class JournalCopy {
  readonly #dir: string;
  readonly #madeFolder: boolean;
  readonly #path: string;
  readonly #database: DatabaseSync;
  readonly #findEntity: StatementSync;
  readonly #addEntity: StatementSync;
  readonly #findTail: StatementSync;
  readonly #addRecord: StatementSync;
  readonly #addEntries: StatementSync;
  readonly #addManifest: StatementSync;
  readonly #addAnswer: StatementSync;
  readonly #addModule: StatementSync;
  readonly #timers: TimerCopy;
  readonly #tails = new Map<string, Tail>();
  readonly #manifests = new Set<string>();
  #lastPos = 0;
  /** Position of the last record that has an index entry. */
  #indexedPos = 0;
  #entities = 0;
  #answers = 0;
  #modules = 0;

  /** Creates the folder if it is missing. Throws SVC_JOURNAL_NOT_EMPTY, SVC_DISK_FULL and SVC_DATA_UNUSABLE. */
  constructor(dir: string) {
    this.#dir = resolve(dir);
    this.#path = join(this.#dir, UNFINISHED);
    this.#madeFolder = makeFolder(this.#dir);
    createJournalFile(this.#path);
    try {
      const database = new DatabaseSync(this.#path, { enableForeignKeyConstraints: false });
      this.#database = database;
      // An interrupted copy starts again with a new file, so this file need not survive a crash.
      database.exec(`
        PRAGMA locking_mode = EXCLUSIVE;
        PRAGMA journal_mode = OFF;
        PRAGMA synchronous = OFF;
        PRAGMA cache_size = -${CACHE_KIB};
        BEGIN;
      `);
      this.#findEntity = database.prepare('SELECT eno FROM entity WHERE component = ? AND id = ?');
      this.#addEntity = database.prepare('INSERT INTO entity (component, id) VALUES (?, ?)');
      this.#findTail = database.prepare(`SELECT ${lastOf('seq', '?1')} AS seq`);
      this.#addRecord = database.prepare(
        'INSERT INTO journal VALUES (?, ?, ?, ?, ?, ?, ?, ?, (? << 32) | ?, ?, ?, ?)',
      );
      this.#addEntries = database.prepare(
        'INSERT INTO place_old SELECT eno, seq, pos FROM journal WHERE pos > ? ORDER BY eno, seq',
      );
      this.#addManifest = database.prepare('INSERT OR IGNORE INTO manifest VALUES (?, ?)');
      this.#addAnswer = database.prepare(
        'INSERT INTO answer (eno, key, digest, time_ms, outcome, crc) VALUES (?, ?, ?, ?, ?, ?)',
      );
      this.#addModule = database.prepare(
        'INSERT INTO module (fingerprint, from_pos, time_ms, descriptor) VALUES (?, ?, ?, ?)',
      );
      this.#timers = new TimerCopy(database, (component, id) => this.#tail(component, id).entityNo);
    } catch (error) {
      throw this.#failure(error);
    }
  }

  get counts(): {
    readonly records: number;
    readonly entities: number;
    readonly answers: number;
    readonly modules: number;
    readonly timers: number;
    readonly consumers: number;
    readonly lanes: number;
  } {
    return {
      records: this.#lastPos,
      entities: this.#entities,
      answers: this.#answers,
      modules: this.#modules,
      ...this.#timers.counts,
    };
  }

  /**
   * Adds a record. If it cannot be added, returns the reason, to be read after "it". Throws SVC_DISK_FULL and
   * SVC_DATA_UNUSABLE.
   */
  addRecord(component: string, id: string, row: RecordRow): string | undefined {
    const [pos, seq, kind, timeMs, manifest, json, crc, upper, lower, trace, key, by] = row;
    if (!isWhole(component, id, row)) return 'does not fit its checksum';
    const recordKind = kindOf(kind, manifest, json);
    if (recordKind === undefined) return 'is neither an event nor a deletion';
    if (pos !== this.#lastPos + 1)
      return `has position ${pos}, and the next one is ${this.#lastPos + 1}`;
    try {
      const tail = this.#tail(component, id);
      if (seq !== tail.seq + 1)
        return `is record ${seq} of its entity, and the next one is ${tail.seq + 1}`;
      this.#addRecord.run(
        pos,
        tail.entityNo,
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
      if (recordKind === 'event') this.#keepManifest(component, manifest!);
      tail.seq = seq;
      this.#lastPos = pos;
      if (pos - this.#indexedPos >= INDEXED_AT_ONCE) this.#indexNew();
      return undefined;
    } catch (error) {
      throw this.#failure(error);
    }
  }

  /**
   * Adds a stored reply, whose checksum the caller has checked. If it cannot be added, returns the reason, to be read
   * after "it". Throws SVC_DISK_FULL and SVC_DATA_UNUSABLE.
   */
  addAnswer(component: string, id: string, row: StoredReplyRow): string | undefined {
    try {
      this.#addAnswer.run(this.#tail(component, id).entityNo, ...row);
      this.#answers++;
      return undefined;
    } catch (error) {
      if (error instanceof Error && error.message.startsWith('UNIQUE'))
        return 'answers a key that its entity has answered before';
      throw this.#failure(error);
    }
  }

  /**
   * Adds a timer. If it cannot be added, returns the reason, to be read after "it". Throws SVC_DISK_FULL and
   * SVC_DATA_UNUSABLE.
   */
  addTimer(row: StoredTimer): string | undefined {
    return this.#added(() => this.#timers.timer(row));
  }

  /** Adds a consumer; returns and throws as `addTimer` does. */
  addConsumer(row: ConsumerRow): string | undefined {
    return this.#added(() => this.#timers.consumer(row));
  }

  /** Adds a lane; returns and throws as `addTimer` does. */
  addLane(row: LaneRow): string | undefined {
    return this.#added(() => this.#timers.lane(row));
  }

  #added(add: () => void): string | undefined {
    try {
      add();
      return undefined;
    } catch (error) {
      if (sqliteCode(error) === SQLITE_CONSTRAINT)
        return 'is there twice, or has a value of another type';
      throw this.#failure(error);
    }
  }

  /** Adds a module. Throws SVC_DISK_FULL and SVC_DATA_UNUSABLE. */
  addModule(row: ModuleRow): void {
    try {
      this.#addModule.run(...row);
      this.#modules++;
    } catch (error) {
      throw this.#failure(error);
    }
  }

  /**
   * Renames the journal to its final name, once it is complete on disk. Throws SVC_JOURNAL_NOT_EMPTY, SVC_DISK_FULL and
   * SVC_DATA_UNUSABLE.
   */
  finish(): void {
    const path = journalPath(this.#dir);
    try {
      this.#indexNew();
      this.#database.exec('COMMIT; PRAGMA journal_mode = WAL');
      this.#database.close();
      sync(this.#path);
      takeName(this.#path, path);
      sync(this.#dir);
    } catch (error) {
      throw this.#failure(error);
    }
  }

  /** Removes the unfinished journal, and the folder if it was created; parents that were created stay. Never throws. */
  abandon(): void {
    try {
      if (this.#database.isOpen) this.#database.close();
      for (const suffix of ['', '-journal', '-wal', '-shm'])
        rmSync(this.#path + suffix, { force: true });
      if (this.#madeFolder && readdirSync(this.#dir).length === 0)
        rmSync(this.#dir, { recursive: true });
    } catch {
      // The next copy into this folder replaces the unfinished journal.
    }
  }

  #indexNew(): void {
    this.#addEntries.run(this.#indexedPos);
    this.#indexedPos = this.#lastPos;
  }

  #tail(component: string, id: string): Tail {
    const name = `${component}\n${id}`;
    const known = this.#tails.get(name);
    if (known !== undefined) return known;
    if (this.#tails.size >= TAILS_MAX) {
      // Entities that are no longer cached are looked up in the index, so it must be complete.
      this.#indexNew();
      this.#tails.clear();
    }
    const found = this.#findEntity.get(component, id)?.['eno'];
    if (found === undefined) this.#entities++;
    const tail: Tail =
      found === undefined
        ? { entityNo: Number(this.#addEntity.run(component, id).lastInsertRowid), seq: 0 }
        : { entityNo: Number(found), seq: Number(this.#findTail.get(found)?.['seq'] ?? 0) };
    this.#tails.set(name, tail);
    return tail;
  }

  #keepManifest(component: string, manifest: string): void {
    const name = `${component}\n${manifest}`;
    if (this.#manifests.has(name)) return;
    if (this.#manifests.size >= TAILS_MAX) this.#manifests.clear();
    this.#manifests.add(name);
    this.#addManifest.run(component, manifest);
  }

  #failure(error: unknown): SvcError {
    if (error instanceof SvcError) return error;
    return fileFailure(
      error,
      `The journal could not be written to ${this.#dir}`,
      'Give this user the right to write there, or name another folder.',
    );
  }
}

/**
 * Creates the folder if it is missing, and returns whether it was. Throws SVC_JOURNAL_NOT_EMPTY if it holds other
 * files, SVC_DISK_FULL and SVC_DATA_UNUSABLE.
 */
function makeFolder(dir: string): boolean {
  try {
    const isNew = !existsSync(dir);
    // Only this user may read it, because it holds the data of the service.
    if (isNew) mkdirSync(dir, { recursive: true, mode: 0o700 });
    if (isNew) sync(dirname(dir));
    const found = readdirSync(dir).find((name) => !NAMES_IGNORED.test(name));
    if (found === undefined) return isNew;
    throw notEmpty(dir, found);
  } catch (error) {
    if (error instanceof SvcError) throw error;
    throw fileFailure(
      error,
      `The folder ${dir} cannot be used`,
      'Name a folder that this user may write to.',
    );
  }
}

/**
 * Renames the file without overwriting a journal that a host has created there meanwhile. Without hard links, a journal
 * that is created between the check and the renaming is overwritten.
 */
function takeName(from: string, to: string): void {
  try {
    linkSync(from, to);
    rmSync(from);
  } catch (error) {
    if (existsSync(to)) throw notEmpty(dirname(to), 'journal.sqlite');
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw error;
    // Some file systems have no hard links.
    renameSync(from, to);
  }
}

function notEmpty(dir: string, found: string): SvcError {
  return new SvcError(
    'SVC_JOURNAL_NOT_EMPTY',
    `The folder ${dir} is not empty: it holds ${found}. Name a new folder, or an empty one.`,
  );
}
