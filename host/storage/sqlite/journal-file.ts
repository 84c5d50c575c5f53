// JournalFile makes, checks and opens the file of a journal. A file with the journal's name is always whole, because it
// is made under another name and renamed. The write-ahead log beside the file is a part of it.
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
import { sqliteCode } from '@svc/kit/sqlite-code';
import { SvcError } from '@svc/kit/svc-error';
import { FORMAT_VERSION, SCHEMA, checkTables, migrationFrom } from './journal-schema.ts';
import { SQLITE_ERROR, fileFailure, journalDamaged, reasonOf } from './sqlite-failure.ts';

/** `svcj` in ASCII: the application id of a SQLite database that is a journal. */
const APPLICATION_ID = 0x7376636a;
/** How long a connection waits for the lock of another connection, in milliseconds. */
export const LOCK_WAIT_MS = 5_000;
/** The write-ahead log is truncated to this size after a slow reader has made it grow. */
const LOG_BYTES_MAX = 32 * 1024 * 1024;
/**
 * Page cache of the writer in KiB. Compaction touches many pages of the index; a smaller cache would read them again.
 */
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
 * Checks the header of the file without changing anything, and without SQLite. Returns false when there is no file.
 * Closing the file releases all locks that this process has on it, so no other part of the process may have it open.
 * Throws SVC_JOURNAL_CORRUPT, SVC_JOURNAL_NEWER, and SVC_DATA_UNUSABLE when this user cannot open or read the file.
 */
export function inspectJournalFile(path: string, use: 'read' | 'write' = 'write'): boolean {
  // The log is looked up first: if another host makes one just now, its journal is there already.
  const hasLog = existsSync(logPath(path));
  if (!existsSync(path)) {
    // SQLite would apply the log of the lost journal to a new one.
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
    // SQLite gives its other files the mode of this one.
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
 * Synchronises the file and its log with the disk, because the process that wrote them may have ended before its fsync.
 * As with `inspectJournalFile`, no other part of this process may have the file open. Throws SVC_DISK_FULL and
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
      'Check the disk, or name another data folder.',
    );
  }
}

/**
 * Opens the only connection that writes, and migrates a journal of an earlier format. The write-ahead log grows until
 * LogCheckpoint copies it. Throws SVC_JOURNAL_CORRUPT, SVC_JOURNAL_NEWER, and errors of SQLite.
 */
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

/** Opens a connection that sees a record only once it is on disk. Throws errors of SQLite. */
export function openForReading(path: string): DatabaseSync {
  return new DatabaseSync(path, { readOnly: true, timeout: LOCK_WAIT_MS });
}

/** Migrates the journal to the current format in one transaction. */
function migrate(path: string, database: DatabaseSync): void {
  const version = pragma(database, 'user_version');
  if (typeof version !== 'number' || version >= FORMAT_VERSION) return;
  damagedWhereRefused(path, () => {
    database.exec(migrationFrom(version));
    // A journal that lacks a table is left in its format.
    checkTables(database);
    database.exec('COMMIT');
  });
  // Moves the new version out of the log, into the file's header, which an older svc reads first.
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
}

/** Runs statements that SQLite refuses only where the tables are not those of a journal. */
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

/** Synchronises a file with the disk, or the entries of a folder in which files were made or renamed. */
export function sync(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
