// DataFolder: the folder a host keeps its data in, one host at a time. The lock is one of the
// operating system's and dies with the process; a file beside it says for people whose it is.
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
/** Far more than an owner file holds. */
const OWNER_CHARACTERS_MAX = 1_000;

export interface DataFolder {
  /** Absolute. */
  readonly dir: string;
  /** Lets another host have it. */
  close(): void;
}

/**
 * Takes the folder for this process and sees to it that there is a journal in it. A missing folder
 * is made. Nothing that is there is changed before all of it was found in order.
 * Throws SVC_DATA_UNUSABLE, SVC_DISK_FULL, SVC_DATA_IN_USE, SVC_JOURNAL_NEWER, SVC_JOURNAL_CORRUPT.
 */
export function openDataFolder(path: string): DataFolder {
  const dir = resolve(path);
  makeFolder(dir);
  const journal = journalPath(dir);
  // Without a lock file nobody has the journal open, so it may be looked at before there is one.
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

/** One by one: Node's own way never ends where a folder cannot be made at all (under /proc, say). */
function makeMissing(dir: string): void {
  if (existsSync(dir)) return;
  const parent = dirname(dir);
  if (parent !== dir) makeMissing(parent);
  // Only this user: it holds what the services know.
  mkdirSync(dir, { mode: 0o700 });
  sync(parent);
}

/** A database that is never written: SQLite's exclusive lock on it is the operating system's. */
function takeLock(dir: string): DatabaseSync {
  let lock: DatabaseSync | undefined;
  try {
    const path = join(dir, LOCK);
    const isNew = !existsSync(path);
    lock = new DatabaseSync(path, { timeout: 0 });
    // As the journal: who may not read that has no use for its lock, and could hold it.
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
    // It serves a message only; the lock is held without it.
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
