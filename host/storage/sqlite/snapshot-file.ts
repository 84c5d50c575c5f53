// SnapshotFile is the file of snapshots beside a journal: states of entities after a record, so that an entity is
// loaded without its whole history. Nothing depends on the file: it is never synchronised with the disk, and a row that
// is damaged or belongs to another journal counts as missing.
//
// The checksum of a row covers the whole row. `record_crc` is the checksum of the journal's record with the same `eno`
// and `seq`, which identifies the history up to that record: where it differs, the row belongs to another journal.
import { closeSync, lstatSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import type { EntityRef } from '@svc/model/entity';

/** `svcs` in ASCII: the application id of a SQLite database that holds snapshots. */
const APPLICATION_ID = 0x73766373;
/** Version of the format; a file of another version is replaced by a new one. */
const FORMAT_VERSION = 1;
/**
 * Time in milliseconds that a connection waits for a lock of another connection. A reader and the writer hardly ever
 * wait for each other.
 */
const LOCK_WAIT_MS = 1_000;
/** Size in bytes to which the write-ahead log is truncated after a slow reader has made it grow. */
const LOG_BYTES_MAX = 32 * 1024 * 1024;

const SCHEMA = `
  CREATE TABLE snapshot (
    eno INTEGER PRIMARY KEY,
    seq INTEGER NOT NULL,
    fingerprint TEXT NOT NULL,
    state TEXT NOT NULL,
    crc INTEGER NOT NULL,
    record_crc INTEGER NOT NULL
  ) STRICT;
`;

export function snapshotPath(dir: string): string {
  return join(dir, 'snapshots.sqlite');
}

/**
 * Opens the only connection that writes, and makes the file where there is none. Throws errors of SQLite and of the
 * file system, and an Error if the file is not a snapshot file.
 */
export function openSnapshotsForWriting(path: string): DatabaseSync {
  // Only this user may read the file; SQLite gives its other files the mode of this one.
  if (!checkKind(path)) closeSync(openSync(path, 'wx', 0o600));
  const database = new DatabaseSync(path, { timeout: LOCK_WAIT_MS });
  return orClosed(database, () => {
    if (isEmpty(database))
      database.exec(`
        PRAGMA journal_mode = WAL;
        BEGIN;
        ${SCHEMA}
        PRAGMA application_id = ${APPLICATION_ID};
        PRAGMA user_version = ${FORMAT_VERSION};
        COMMIT;
      `);
    database.exec(`
      PRAGMA synchronous = OFF;
      PRAGMA journal_size_limit = ${LOG_BYTES_MAX};
    `);
    check(database);
  });
}

/** Opens a connection that reads. Throws errors of SQLite, and an Error if the file is not a snapshot file. */
export function openSnapshotsForReading(path: string): DatabaseSync {
  checkKind(path);
  const database = new DatabaseSync(path, { readOnly: true, timeout: LOCK_WAIT_MS });
  return orClosed(database, () => check(database));
}

/** Deletes the file, so that a new one is created. Throws if it cannot be deleted. */
export function removeSnapshots(path: string): void {
  checkKind(path);
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(path + suffix, { force: true });
}

/** Returns the CRC-32 of a snapshot, its entity, and the record that it follows. */
export function snapshotChecksum(
  { component, id }: EntityRef,
  seq: number,
  fingerprint: string,
  recordCrc: number,
  state: string,
): number {
  return crc32(state, crc32(`${component}\n${id}\n${seq} ${recordCrc} ${fingerprint}\n`));
}

/**
 * Returns whether the file exists. Throws where a pipe or a folder has its name, because opening a pipe would block.
 */
function checkKind(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found?.isFile() === false) throw new Error(`${path} is not a file`);
  return found !== undefined;
}

/** Returns the database once `work` is done; closes it if `work` throws. */
function orClosed(database: DatabaseSync, work: () => void): DatabaseSync {
  try {
    work();
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function isEmpty(database: DatabaseSync): boolean {
  return pragma(database, 'user_version') === 0 && pragma(database, 'page_count') === 0;
}

function check(database: DatabaseSync): void {
  if (
    pragma(database, 'application_id') !== APPLICATION_ID ||
    pragma(database, 'user_version') !== FORMAT_VERSION
  )
    throw new Error('it is not a file of snapshots of this version of svc');
  database.prepare('SELECT eno, seq, fingerprint, state, crc, record_crc FROM snapshot');
}

function pragma(database: DatabaseSync, name: string): unknown {
  return Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0];
}
