// LogCheckpoint keeps the write-ahead log short: it copies what the log holds into the database, after
// which the log begins anew. No commit waits for that, so it is done once the users have been told.
//
// A log that somebody reads from cannot begin anew. While readers come and go without a pause it would
// grow without end: once it is long, readers are waited for, a little, for new ones need the log no more.
import type { DatabaseSync, StatementSync } from 'node:sqlite';

/** So many pages more are worth copying. Each page counts once, however often it was written. */
const PAGES_PER_CHECKPOINT = 4_000;
/** A log of so many pages is long. */
const PAGES_LONG = 8_000;
const READERS_WAIT_MS = 100;

export class LogCheckpoint {
  readonly #database: DatabaseSync;
  readonly #lockWaitMs: number;
  readonly #look: StatementSync;
  readonly #copy: StatementSync;
  readonly #copyAndRestart: StatementSync;
  /** Pages in the log when it was last copied. */
  #copiedPages = 0;

  /** `lockWaitMs`: how long the connection waits otherwise. Throws errors of SQLite. */
  constructor(database: DatabaseSync, lockWaitMs: number) {
    this.#database = database;
    this.#lockWaitMs = lockWaitMs;
    this.#look = database.prepare('PRAGMA wal_checkpoint(NOOP)');
    this.#copy = database.prepare('PRAGMA wal_checkpoint(PASSIVE)');
    this.#copyAndRestart = database.prepare('PRAGMA wal_checkpoint(RESTART)');
  }

  /** To be called after each commit, outside of a transaction. Never throws. */
  keepShort(): void {
    try {
      const pages = this.#pages();
      if (pages < this.#copiedPages) this.#copiedPages = 0;
      if (pages - this.#copiedPages < PAGES_PER_CHECKPOINT) return;
      this.#copiedPages = pages;
      if (pages < PAGES_LONG) this.#copy.get();
      else this.#waitForReaders();
    } catch {
      // What was committed is on disk without it, and it is tried again when the log has grown.
    }
  }

  #pages(): number {
    return Number(this.#look.get()?.['log'] ?? 0);
  }

  #waitForReaders(): void {
    this.#database.exec(`PRAGMA busy_timeout = ${READERS_WAIT_MS}`);
    try {
      this.#copyAndRestart.get();
    } finally {
      this.#database.exec(`PRAGMA busy_timeout = ${this.#lockWaitMs}`);
    }
  }
}
