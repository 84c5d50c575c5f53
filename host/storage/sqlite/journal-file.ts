// The journal's file: its format, how it is made, and how it is told from what is none. A file of
// the journal's name is always whole: it is made under another name and renamed. Its write-ahead log
// lies beside it, and is a part of it.
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { SvcError } from '@svc/kit/svc-error';
import { FORMAT_VERSION, SCHEMA, checkTables, migrationFrom } from './journal-schema.ts';
import {
  SQLITE_ERROR,
  fileFailure,
  journalDamaged,
  reasonOf,
  sqliteCode,
} from './sqlite-failure.ts';

/** `svcj` in ASCII: this SQLite database is a journal. */
const APPLICATION_ID = 0x7376636a;
/** How long a connection waits for another one's lock. */
export const LOCK_WAIT_MS = 5_000;
/** The log is cut back to this, should a reader that took long have made it grow. */
const LOG_BYTES_MAX = 32 * 1024 * 1024;
/** A run of places touches many pages of their table; without this many they are read again. */
const CACHE_KIB = 32 * 1024;

const HEADER_BYTES = 100;
const MAGIC = 'SQLite format 3\0';
const USER_VERSION_OFFSET = 60;
const APPLICATION_ID_OFFSET = 68;

export function journalPath(dir: string): string {
  return join(dir, 'journal.sqlite');
}

function logPath(path: string): string {
  return `${path}-wal`;
}

/**
 * Looks at the file without changing anything, not even through SQLite. False when there is none.
 * Closing the file ends the locks this process has on it, so nothing of this process has it open.
 * Throws SVC_JOURNAL_CORRUPT, SVC_JOURNAL_NEWER, SVC_DATA_UNUSABLE: also when this user may not use it so.
 */
export function inspectJournalFile(path: string, use: 'read' | 'write' = 'write'): boolean {
  // Looked for first: a log that another host makes right now has its journal.
  const hasLog = existsSync(logPath(path));
  if (!existsSync(path)) {
    // A new journal would take in what the log of the lost one holds.
    if (hasLog) throw journalDamaged(path, `it is missing, and its log ${logPath(path)} is there`);
    return false;
  }
  const header = Buffer.alloc(HEADER_BYTES);
  let length: number;
  try {
    accessSync(path, use === 'read' ? constants.R_OK : constants.R_OK | constants.W_OK);
    const file = openSync(path, 'r');
    try {
      length = readSync(file, header, 0, HEADER_BYTES, 0);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw new SvcError(
      'SVC_DATA_UNUSABLE',
      `The journal ${path} cannot be opened: ${reasonOf(error)}. ` +
        'Give this user the right to read and write it, or name another data folder.',
      { cause: error },
    );
  }
  if (length < HEADER_BYTES || header.toString('latin1', 0, MAGIC.length) !== MAGIC)
    throw journalDamaged(path, 'it does not begin like a journal');
  checkFormat(
    path,
    header.readInt32BE(APPLICATION_ID_OFFSET),
    header.readInt32BE(USER_VERSION_OFFSET),
  );
  return true;
}

/** Makes an empty journal. Throws SVC_DISK_FULL and SVC_DATA_UNUSABLE. */
export function createJournalFile(path: string): void {
  const unfinished = `${path}.new`;
  try {
    for (const suffix of ['', '-journal', '-wal', '-shm'])
      rmSync(unfinished + suffix, { force: true });
    // SQLite gives its other files the mode that it finds.
    closeSync(openSync(unfinished, 'wx', 0o600));
    const database = new DatabaseSync(unfinished);
    try {
      database.exec(`
        PRAGMA synchronous = FULL;
        BEGIN;
        ${SCHEMA}
        PRAGMA application_id = ${APPLICATION_ID};
        PRAGMA user_version = ${FORMAT_VERSION};
        COMMIT;
        PRAGMA journal_mode = WAL;
      `);
    } finally {
      database.close();
    }
    renameSync(unfinished, path);
    sync(dirname(path));
  } catch (error) {
    throw fileFailure(
      error,
      `No journal could be made at ${path}`,
      'Give this user the right to write there, or name another data folder.',
    );
  }
}

/**
 * Sees to it that what can be read is on disk: whoever wrote it may have ended before its fsync.
 * As with `inspectJournalFile`, nothing of this process has the file open. Throws SVC_DISK_FULL and
 * SVC_DATA_UNUSABLE.
 */
export function syncJournalFile(path: string): void {
  try {
    sync(path);
    if (existsSync(logPath(path))) sync(logPath(path));
  } catch (error) {
    throw fileFailure(
      error,
      `The journal ${path} cannot be synchronised with the disk`,
      'Look after the disk, or name another data folder.',
    );
  }
}

/** The one connection that writes; its log grows until LogCheckpoint sees to it. Throws SvcError, and errors of SQLite. */
export function openForWriting(path: string): DatabaseSync {
  const database = new DatabaseSync(path, {
    timeout: LOCK_WAIT_MS,
    enableForeignKeyConstraints: false,
  });
  try {
    checkFormat(path, pragma(database, 'application_id'), pragma(database, 'user_version'));
    database.exec(`
      PRAGMA synchronous = FULL;
      PRAGMA cache_size = -${CACHE_KIB};
      PRAGMA wal_autocheckpoint = 0;
      PRAGMA journal_size_limit = ${LOG_BYTES_MAX};
    `);
    if (pragma(database, 'journal_mode') !== 'wal')
      throw journalDamaged(path, 'its write-ahead log is switched off');
    migrate(path, database);
    damagedWhereRefused(path, () => checkTables(database));
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** A connection that sees what is on disk, and nothing before it is. Throws errors of SQLite. */
export function openForReading(path: string): DatabaseSync {
  return new DatabaseSync(path, { readOnly: true, timeout: LOCK_WAIT_MS });
}

/** To the present format, all of it or nothing. */
function migrate(path: string, database: DatabaseSync): void {
  const version = pragma(database, 'user_version');
  if (typeof version !== 'number' || version >= FORMAT_VERSION) return;
  damagedWhereRefused(path, () => database.exec(migrationFrom(version)));
  // Out of the log, into the file at whose beginning an older svc looks first.
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
}

/** Does what SQLite refuses only where the tables are not those of a journal. */
function damagedWhereRefused(path: string, work: () => void): void {
  try {
    work();
  } catch (error) {
    if (sqliteCode(error) !== SQLITE_ERROR) throw error;
    throw journalDamaged(path, reasonOf(error), error);
  }
}

function pragma(database: DatabaseSync, name: string): unknown {
  return Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0];
}

function checkFormat(path: string, applicationId: unknown, version: unknown): void {
  if (applicationId !== APPLICATION_ID)
    throw journalDamaged(path, 'it is a SQLite database, and not a journal');
  if (typeof version !== 'number' || version < 1)
    throw journalDamaged(path, 'its format has no version');
  if (version > FORMAT_VERSION)
    throw new SvcError(
      'SVC_JOURNAL_NEWER',
      `The journal ${path} has format ${version}, and this version of svc reads up to format ` +
        `${FORMAT_VERSION}. Run the newer svc that wrote it, or name another data folder.`,
    );
}

/** Makes a file's content durable, or what was made and renamed in a folder. */
export function sync(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
