// DataFolder is the folder in which a host has its data, one host at a time. Its lock is a file lock of the operating
// system, which ends with the process; a file beside the lock names its owner, for error messages, and its control socket.
import {
  accessSync,
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
import { setTimeout } from 'node:timers/promises';
import { removeControlSocket } from '@svc/kit/control-socket';
import { isProcessAlive } from '@svc/kit/process-life';
import { SvcError } from '@svc/kit/svc-error';
import { FolderLock } from '@svc/kit/folder-lock';
import {
  createJournalFile,
  inspectJournalFile,
  journalPath,
  sync,
  syncJournalFile,
} from './journal-file.ts';
import { fileFailure } from './sqlite-failure.ts';

const LOCK = 'lock';
const OWNER = 'owner.json';
/** Maximum length of an owner file in UTF-16 units; a longer file is ignored. A real one is far shorter. */
const OWNER_CHARACTERS_MAX = 1_000;

export interface DataFolder {
  /** Absolute path of the folder. */
  readonly dir: string;
  /** Names the socket by which other programs of this user can ask this host for changes. */
  nameControlSocket(path: string): void;
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
  const lock = beginLock(dir);
  if (tryLock(dir, lock)) return lockedFolder(dir, lock);
  lock.release();
  throw new SvcError(
    'SVC_DATA_IN_USE',
    `The data folder ${dir} is in use by ${ownerName(dir)}. ` +
      'Stop that process first, or name another data folder.',
  );
}

/**
 * Locks the folder as `openDataFolder` does, once no other process uses it: the lock is tried every `tryIntervalMs`
 * milliseconds. Rejects with the reason of `signal` when that aborts, and as `openDataFolder` throws.
 */
export async function openDataFolderWhenFree(
  path: string,
  { tryIntervalMs, signal }: { readonly tryIntervalMs: number; readonly signal: AbortSignal },
): Promise<DataFolder> {
  const dir = resolve(path);
  const lock = beginLock(dir);
  try {
    while (!tryLock(dir, lock)) await setTimeout(tryIntervalMs, undefined, { signal });
    signal.throwIfAborted();
  } catch (error) {
    lock.release();
    throw signal.aborted ? signal.reason : error;
  }
  return lockedFolder(dir, lock);
}

function beginLock(dir: string): FolderLock {
  makeFolder(dir);
  const path = join(dir, LOCK);
  // Without a lock file nobody has the journal open, so it is safe to inspect it before the lock exists.
  if (!existsSync(path)) inspectJournalFile(journalPath(dir));
  return new FolderLock(path);
}

function tryLock(dir: string, lock: FolderLock): boolean {
  try {
    return lock.tryTake();
  } catch (error) {
    throw unusable(dir, error);
  }
}

/** Returns the folder, whose lock this process has. Releases the lock if it throws. */
function lockedFolder(dir: string, lock: FolderLock): DataFolder {
  const journal = journalPath(dir);
  const owner = { pid: process.pid, host: hostname(), since: new Date().toISOString() };
  try {
    if (inspectJournalFile(journal)) syncJournalFile(journal);
    else createJournalFile(journal);
    const killed = readOwner(dir)?.control;
    // Its host has ended, because the lock is ours.
    if (killed !== undefined) removeControlSocket(killed);
    writeOwner(dir, owner);
  } catch (error) {
    lock.release();
    throw error;
  }
  return {
    dir,
    nameControlSocket: (control) => writeOwner(dir, { ...owner, control }),
    close(): void {
      rmSync(join(dir, OWNER), { force: true });
      lock.release();
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

/** The content of `owner.json`, which describes the host that uses a folder. The file may be missing, old or damaged. */
export interface FolderOwner {
  readonly pid?: number | undefined;
  /** Name of its machine. */
  readonly host?: string | undefined;
  /** When it opened the folder, ISO 8601. */
  readonly since?: string | undefined;
  /** Path of its control socket, unchecked. */
  readonly control?: string | undefined;
}

function writeOwner(dir: string, owner: FolderOwner): void {
  const unfinished = join(dir, `${OWNER}.new`);
  try {
    writeFileSync(unfinished, `${JSON.stringify(owner)}\n`);
    renameSync(unfinished, join(dir, OWNER));
  } catch {
    // The lock is held without it: the file serves messages, and names the control socket.
  }
}

/** Reads the file of the host that uses a folder, or was killed while it did; undefined if it cannot be read. */
export function readOwner(dir: string): FolderOwner | undefined {
  try {
    const text = readFileSync(join(dir, OWNER), 'utf8');
    const owner: unknown = text.length > OWNER_CHARACTERS_MAX ? undefined : JSON.parse(text);
    if (typeof owner !== 'object' || owner === null) return undefined;
    const { pid, host, since, control } = owner as Readonly<Record<string, unknown>>;
    return {
      pid: Number.isSafeInteger(pid) ? (pid as number) : undefined,
      host: textOf(host),
      since: textOf(since),
      control: textOf(control),
    };
  } catch {
    return undefined;
  }
}

/** Returns whether a host uses a folder. It goes by the owner's file and does not take the lock. */
export function isHosted(dir: string): boolean {
  const owner = readOwner(dir);
  if (owner === undefined) return false;
  if (owner.pid === undefined || owner.host !== hostname()) return true;
  return isProcessAlive(owner.pid);
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function ownerName(dir: string): string {
  const owner = readOwner(dir);
  if (owner === undefined) return 'another process';
  const { pid, host, since } = owner;
  const on = host === undefined ? '' : ` on ${JSON.stringify(host)}`;
  const from = since === undefined ? '' : ` since ${JSON.stringify(since)}`;
  return `process ${pid ?? 'unknown'}${on}${from}`;
}

function unusable(dir: string, cause: unknown): SvcError {
  return fileFailure(
    cause,
    `The data folder ${dir} cannot be used`,
    'Name a folder that this user may read and write.',
  );
}
