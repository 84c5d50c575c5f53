// ViewFile makes, opens, checks and deletes the SQLite files of views. A file belongs to one definition, and its name is
// the definition's hash: no text of a descriptor is in a path or in a statement. Rows and the position in the journal up to
// which they are folded change in one transaction, so that a file is never ahead of its position, nor behind it.
//
// A file is derived from the journal. One that is not whole, of another format or of another definition is deleted.
// SQLite forgets the locks of a process on a file when any part of the process closes it, so only SQLite opens it.
import assert from 'node:assert';
import { closeSync, existsSync, lstatSync, mkdirSync, openSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { SkippedEvent, StoredView } from '../../engine/needs/views.ts';
import { isDamage } from '../sqlite/sqlite-failure.ts';
import { LAYOUT_ROW, SKIPS_ROW, STATE_ROW, ViewMeta } from './view-meta.ts';
import { KEY_INDEX, columnName, indexName } from './view-sql.ts';

/** `svcv` in ASCII: the application id of a SQLite database that holds the rows of a view. */
const APPLICATION_ID = 0x73766376;
/** Version of the format; a file of another version is made new. */
const FORMAT_VERSION = 3;
/** How long a connection waits for the lock of another connection, in milliseconds. */
export const LOCK_WAIT_MS = 5_000;
/** Size in bytes to which the write-ahead log is truncated after a slow reader has made it grow. */
const LOG_BYTES_MAX = 32 * 1024 * 1024;
/** Page cache of a connection that writes, in KiB. Rows are written by key, and index entries anywhere in an index. */
const WRITER_CACHE_KIB = 32 * 1024;

const DEFINITION = /^[0-9a-f]{16,64}$/;
const FILE = /^([0-9a-f]{16,64})\.sqlite$/;
const SUFFIXES = ['', '-wal', '-shm', '-journal'];

/** The tables. LAYOUT_ROW lists the columns and indexes that are added to `row`. */
const SCHEMA = `
  CREATE TABLE row (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL,
    json TEXT NOT NULL,
    crc INTEGER NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX ${KEY_INDEX} ON row (key);
  CREATE TABLE meta (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL,
    crc INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
`;

/** The file cannot be used, and has to be made new. */
export class UnusableFile extends Error {}

/** The folder of the views in a data folder. */
export function viewsFolder(dir: string): string {
  return join(dir, 'views');
}

export function viewPath(folder: string, definition: string): string {
  assert(DEFINITION.test(definition), 'the hash of a definition names its file');
  return join(folder, `${definition}.sqlite`);
}

function newPath(path: string): string {
  return `${path}.new`;
}

/** Returns the definition whose rows a file of the folder has; undefined for another file. */
export function definitionOf(file: string): string | undefined {
  return FILE.exec(file)?.[1];
}

/** Makes the folder of the views if there is none. Throws errors of the file system. */
export function makeViewsFolder(folder: string): void {
  // Only this user may read it, because it holds data of the service.
  mkdirSync(folder, { recursive: true, mode: 0o700 });
}

/**
 * Makes a file without rows under another name. `placeViewFile` gives it its name, so that a reader never finds a part of it,
 * and so that the file that is there keeps its skips until the new one has them. Throws errors of SQLite and of the file
 * system.
 */
export function makeViewFile(path: string, view: StoredView, skips: readonly SkippedEvent[]): void {
  const unfinished = newPath(path);
  for (const suffix of SUFFIXES) rmSync(unfinished + suffix, { force: true });
  // SQLite gives its other files the mode of this one.
  closeSync(openSync(unfinished, 'wx', 0o600));
  const database = new DatabaseSync(unfinished);
  try {
    database.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = NORMAL;
      BEGIN;
      ${SCHEMA}
      PRAGMA application_id = ${APPLICATION_ID};
      PRAGMA user_version = ${FORMAT_VERSION};
    `);
    new ViewMeta(database).create(view, skips);
    database.exec('COMMIT');
  } finally {
    database.close();
  }
}

/** Replaces the file of a view, which nobody writes, by the one that was made. Throws errors of the file system. */
export function placeViewFile(path: string): void {
  // A log of the former file would be taken for one of the new file.
  for (const suffix of SUFFIXES) rmSync(path + suffix, { force: true });
  renameSync(newPath(path), path);
}

/**
 * Gives its name to the file that a writer had made when it ended before it could do so. Does nothing if it had not removed
 * the former file, or not finished the new one. Throws errors of SQLite and of the file system.
 */
export function placeInterruptedFile(path: string, definition: string): void {
  const unfinished = newPath(path);
  if (existsSync(path) || !existsSync(unfinished)) return;
  try {
    openForWriting(unfinished, definition).close();
  } catch (error) {
    if (error instanceof UnusableFile || isDamage(error)) return;
    throw error;
  }
  placeViewFile(path);
}

/**
 * Opens the connection that writes an existing file. Throws UnusableFile, and errors of SQLite and of the file system.
 */
export function openForWriting(path: string, definition: string): DatabaseSync {
  checkKind(path);
  const database = new DatabaseSync(path, { timeout: LOCK_WAIT_MS });
  return orClosed(database, () => {
    configureWriter(database);
    checkFile(database, definition);
  });
}

/**
 * Opens a connection that reads. It is defensive: it attaches nothing, loads no code, and runs the statements of this
 * folder only. `unchanging`: the file's URL with `immutable`, for a file that nobody writes: then the connection makes no log.
 * Throws UnusableFile, and errors of SQLite and of the file system.
 */
export function openForReading(path: string, definition: string, unchanging?: URL): DatabaseSync {
  checkKind(path);
  const database = new DatabaseSync(unchanging ?? path, {
    readOnly: true,
    timeout: LOCK_WAIT_MS,
    allowExtension: false,
    defensive: true,
    limits: {
      sqlLength: 16 * 1024,
      attach: 0,
      compoundSelect: 2,
      exprDepth: 100,
      functionArg: 8,
      likePatternLength: 1,
      triggerDepth: 0,
      variableNumber: 64,
    },
  });
  return orClosed(database, () => {
    database.exec('PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;');
    // Of an immutable file SQLite does not say that it has a log.
    checkFile(database, definition, unchanging === undefined);
  });
}

/**
 * Deletes the file of a view. Its readers keep what they have open, and its log is gone before another file can have its
 * name. Throws errors of the file system.
 */
export function removeViewFile(path: string): void {
  for (const name of [newPath(path), path])
    for (const suffix of SUFFIXES) rmSync(name + suffix, { force: true });
}

/** Returns what identifies the file that has the path now; undefined if there is none. */
export function fileIdentity(path: string): string | undefined {
  const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return found && `${found.dev} ${found.ino} ${found.birthtimeNs}`;
}

/** Throws UnusableFile where a folder or a link has the name of the file: opening a pipe would block. */
function checkKind(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile() === false)
    throw new UnusableFile('it is not a file');
}

/**
 * After a power failure, `NORMAL` may lose the last transactions, and never a part of one: then the rows are as old as
 * their position in the journal, and the events after it are folded again.
 */
function configureWriter(database: DatabaseSync): void {
  database.exec(`
    PRAGMA synchronous = NORMAL;
    PRAGMA cache_size = -${WRITER_CACHE_KIB};
    PRAGMA wal_autocheckpoint = 0;
    PRAGMA journal_size_limit = ${LOG_BYTES_MAX};
    PRAGMA trusted_schema = OFF;
    PRAGMA cell_size_check = ON;
  `);
}

/** Throws UnusableFile if the file is not one of this format and definition, with the columns and indexes of its layout. */
function checkFile(database: DatabaseSync, definition: string, hasLog = true): void {
  if (pragma(database, 'application_id') !== APPLICATION_ID)
    throw new UnusableFile('it is not the file of a view');
  if (pragma(database, 'user_version') !== FORMAT_VERSION)
    throw new UnusableFile('another version of svc has written it');
  if (hasLog && pragma(database, 'journal_mode') !== 'wal')
    throw new UnusableFile('its write-ahead log is switched off');
  const meta = new ViewMeta(database);
  if (meta.state()?.definition !== definition)
    throw new UnusableFile(`its ${STATE_ROW} is damaged or of another definition`);
  const layout = meta.layout();
  if (layout === undefined) throw new UnusableFile(`its ${LAYOUT_ROW} is damaged`);
  if (meta.skips() === undefined) throw new UnusableFile(`its list of ${SKIPS_ROW} is damaged`);
  const expected = [
    'table row',
    'table meta',
    `index ${KEY_INDEX}`,
    ...layout.indexes.map(({ no }) => `index ${indexName(no)}`),
  ];
  const found = database
    .prepare("SELECT type || ' ' || name AS what FROM sqlite_schema")
    .all()
    .map(({ what }) => String(what));
  if (found.toSorted().join() !== expected.toSorted().join())
    throw new UnusableFile('its tables and indexes are not those of its layout');
  checkColumns(database, KEY_INDEX, ['key']);
  for (const { no, columns } of layout.indexes)
    checkColumns(database, indexName(no), [...columns.map(columnName), 'key']);
  const added = layout.columns.map(({ no }) => `, ${columnName(no)}`).join('');
  database.prepare(`SELECT id, key, json, crc${added} FROM row`);
}

function checkColumns(database: DatabaseSync, index: string, columns: readonly string[]): void {
  const found = database
    .prepare('SELECT name FROM pragma_index_info(?)')
    .all(index)
    .map(({ name }) => name);
  if (found.join() !== columns.join())
    throw new UnusableFile(`its index ${index} has other columns than its layout says`);
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

function pragma(database: DatabaseSync, name: string): unknown {
  return Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0];
}
