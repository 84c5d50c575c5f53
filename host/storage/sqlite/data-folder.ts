// DataFolder is the folder in which a host has its data, one host at a time. Its lock is a file lock of the operating
// system, which ends with the process; a file beside the lock names its owner for error messages.
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { SvcError } from '@svc/kit/svc-error';
import {
  createJournalFile,
  inspectJournalFile,
  journalPath,
  sync,
  syncJournalFile,
} from './journal-file.ts';
import { fileFailure, isBusy } from './sqlite-failure.ts';

const LOCK = 'lock';
const OWNER = 'owner.json';
/** Maximum length of an owner file in UTF-16 units; a longer file is ignored. A real one is far shorter. */
const OWNER_CHARACTERS_MAX = 1_000;

export interface DataFolder {
  /** Absolute path of the folder. */
  readonly dir: string;
  /** Releases the lock, so that another host can open the folder. */
  close(): void;
}

/**
 * Locks the folder for this process and makes sure that there is a journal in it. A missing folder is created. Existing
 * files are checked before any of them is changed.
 * Throws SVC_DATA_UNUSABLE, SVC_DISK_FULL, SVC_DATA_IN_USE, SVC_JOURNAL_NEWER, SVC_JOURNAL_CORRUPT.
 */
export function openDataFolder(path: string): DataFolder {
  const dir = resolve(path);
  makeFolder(dir);
  const journal = journalPath(dir);
  // Without a lock file nobody has the journal open, so it is safe to inspect it before the lock exists.
  if (!existsSync(join(dir, LOCK))) inspectJournalFile(journal);
  const lock = takeLock(dir);
  try {
    if (inspectJournalFile(journal)) syncJournalFile(journal);
    else createJournalFile(journal);
    writeOwner(dir);
  } catch (error) {
    lock.close();
    throw error;
  }
  return {
    dir,
    close(): void {
      rmSync(join(dir, OWNER), { force: true });
      lock.close();
    },
  };
}

function makeFolder(dir: string): void {
  try {
    makeMissing(dir);
    if (!statSync(dir).isDirectory()) throw new Error('it is not a folder');
    accessSync(dir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw unusable(dir, error);
  }
}

/**
 * Makes the folders one by one, because Node's recursive mkdir never ends where a folder cannot be made, such as
 * under /proc.
 */
function makeMissing(dir: string): void {
  if (existsSync(dir)) return;
  const parent = dirname(dir);
  if (parent !== dir) makeMissing(parent);
  // Only this user may read it, because it holds the data of the service.
  mkdirSync(dir, { mode: 0o700 });
  sync(parent);
}

/** Takes SQLite's exclusive lock on a database that is never written; it is a lock of the operating system. */
function takeLock(dir: string): DatabaseSync {
  let lock: DatabaseSync | undefined;
  try {
    const path = join(dir, LOCK);
    const isNew = !existsSync(path);
    lock = new DatabaseSync(path, { timeout: 0 });
    // The same mode as the journal, so that a user who cannot read the journal cannot hold its lock either.
    if (isNew) chmodSync(path, 0o600);
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock?.close();
    if (!isBusy(error)) throw unusable(dir, error);
    throw new SvcError(
      'SVC_DATA_IN_USE',
      `The data folder ${dir} is in use by ${readOwner(dir)}. ` +
        'Stop that host first, or name another data folder.',
      { cause: error },
    );
  }
}

function writeOwner(dir: string): void {
  const owner = { pid: process.pid, host: hostname(), since: new Date().toISOString() };
  const unfinished = join(dir, `${OWNER}.new`);
  try {
    writeFileSync(unfinished, `${JSON.stringify(owner)}\n`);
    renameSync(unfinished, join(dir, OWNER));
  } catch {
    // The owner file serves a message only; the lock is held without it.
  }
}

function readOwner(dir: string): string {
  try {
    const text = readFileSync(join(dir, OWNER), 'utf8');
    const owner: unknown = text.length > OWNER_CHARACTERS_MAX ? undefined : JSON.parse(text);
    if (typeof owner !== 'object' || owner === null) return 'another process';
    const pid = 'pid' in owner && Number.isSafeInteger(owner.pid) ? owner.pid : 'unknown';
    const host = 'host' in owner ? ` on ${JSON.stringify(owner.host)}` : '';
    const since = 'since' in owner ? ` since ${JSON.stringify(owner.since)}` : '';
    return `process ${String(pid)}${host}${since}`;
  } catch {
    return 'another process';
  }
}

function unusable(dir: string, cause: unknown): SvcError {
  return fileFailure(
    cause,
    `The data folder ${dir} cannot be used`,
    'Name a folder that this user may read and write.',
  );
}
