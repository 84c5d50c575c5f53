// LogCheckpoint keeps the write-ahead log short: it copies the pages of the log into the database, after which the log
// begins anew. This runs after a commit was reported, so only a commit that follows may have to wait for it.
//
// The log cannot begin anew while a reader uses it. Readers that come and go without a pause would make it grow without
// end. So once the log is long, LogCheckpoint waits for a short time, after it has copied all pages, until no reader
// uses the log: readers that begin then find everything in the database.
import type { DatabaseSync, StatementSync } from 'node:sqlite';

/** Number of pages that are added to the log before it is copied. A page that was added repeatedly is copied once. */
const PAGES_PER_CHECKPOINT = 4_000;
/** Number of pages from which on the log is long. */
const PAGES_LONG = 8_000;
/** How long a checkpoint waits for readers, in milliseconds. */
const READERS_WAIT_MS = 100;

export class LogCheckpoint {
  readonly #database: DatabaseSync;
  readonly #lockWaitMs: number;
  /** Reads the number of pages in the log, and copies none. */
  readonly #look: StatementSync;
  readonly #copy: StatementSync;
  readonly #copyAndRestart: StatementSync;
  /** Number of pages in the log when it was last copied. */
  #copiedPages = 0;

  /** `lockWaitMs` is how long the connection otherwise waits for a lock. Throws errors of SQLite. */
  constructor(database: DatabaseSync, lockWaitMs: number) {
    this.#database = database;
    this.#lockWaitMs = lockWaitMs;
    this.#look = database.prepare('PRAGMA wal_checkpoint(NOOP)');
    this.#copy = database.prepare('PRAGMA wal_checkpoint(PASSIVE)');
    this.#copyAndRestart = database.prepare('PRAGMA wal_checkpoint(RESTART)');
  }

  /** Copies the log if it is long enough. Called after each commit, outside of a transaction. Never throws. */
  keepShort(): void {
    try {
      const pages = this.#pages();
      if (pages < this.#copiedPages) this.#copiedPages = 0;
      if (pages - this.#copiedPages < PAGES_PER_CHECKPOINT) return;
      this.#copiedPages = pages;
      if (pages < PAGES_LONG) this.#copy.get();
      else this.#waitForReaders();
    } catch {
      // Commits are on disk without a checkpoint, and the next one is tried when the log has grown.
    }
  }

  #pages(): number {
    return Number(this.#look.get()?.['log'] ?? 0);
  }

  /** Copies the log, and waits for its readers, so that it begins anew. */
  #waitForReaders(): void {
    this.#database.exec(`PRAGMA busy_timeout = ${READERS_WAIT_MS}`);
    try {
      this.#copyAndRestart.get();
    } finally {
      this.#database.exec(`PRAGMA busy_timeout = ${this.#lockWaitMs}`);
    }
  }
}
