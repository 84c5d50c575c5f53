// StaleRegistrations removes the registration files that killed processes have left in the folder of running services.
//
// Invariants
// S1  A file is removed only if its process has certainly ended: the process id in the file belongs to the PID
//     namespace of this process (the instance id shows that), and no process has this id. If another process has the id
//     by now, the file is kept.
// S2  Only regular files of this user are read and removed, and only if their names and contents are those of a
//     registration. Symbolic links are not followed.
// S3  A registration that another process writes meanwhile is kept, and several processes may remove files at once.
// S4  At most FILES_MAX files are examined, and nothing is thrown.
import { hash, randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  linkSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { isProcessAlive } from './process-life.ts';

const FILES_MAX = 500;
const FILE_BYTES_MAX = 4 * 1024;
/** `PID.json`, `PID-INSTANCE.json`, and `.PID-INSTANCE.tmp`, in which a registration is written first. */
const NAME = /^(?:([1-9]\d{0,9})(?:-([0-9a-f]{16}))?\.json|\.([1-9]\d{0,9})-([0-9a-f]{16})\.tmp)$/;
/** Digits of an instance id that identify the PID namespace of its process; the remaining ones are random. */
const NAMESPACE_DIGITS = 8;

/** Makes the id of an instance of this process: 16 hexadecimal digits, which no other instance has. */
export function newInstanceId(): string {
  const random = randomBytes(NAMESPACE_DIGITS).toString('hex');
  return (namespaceDigits() + random).slice(0, 2 * NAMESPACE_DIGITS);
}

/** Removes the files that killed processes have left in the folder. Never throws. */
export function removeStaleRegistrations(folder: string): void {
  const namespace = namespaceDigits();
  if (namespace === '') return;
  let names: readonly string[];
  try {
    names = readdirSync(folder);
  } catch {
    return;
  }
  for (const name of names.filter((one) => NAME.test(one)).slice(0, FILES_MAX))
    try {
      const stale = staleInstance(folder, name, namespace);
      if (stale !== undefined) removeInstance(folder, name, stale);
    } catch {
      // The file is gone, or belongs to another user.
    }
}

/** The process that has written a registration, and the id of the service instance within this process. */
export interface Instance {
  readonly pid: number;
  readonly instanceId: string;
}

/** Returns the instance of the file if its process has certainly ended, else undefined. Throws file system errors. */
function staleInstance(folder: string, name: string, namespace: string): Instance | undefined {
  const instance = readInstance(join(folder, name));
  if (instance === undefined) return undefined;
  const { pid, instanceId } = instance;
  const isNamed = [`${pid}.json`, `${pid}-${instanceId}.json`, `.${pid}-${instanceId}.tmp`];
  if (!isNamed.includes(name) || !instanceId.startsWith(namespace)) return undefined;
  return isProcessAlive(pid) ? undefined : instance;
}

function readInstance(path: string): Instance | undefined {
  // The flags keep `openSync` from following a link and from waiting for the writer of a pipe.
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  // Windows does not define the last two; undefined counts as 0 in the bitwise OR.
  const file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const stats = fstatSync(file);
    const isOwn =
      stats.isFile() && (process.getuid === undefined || stats.uid === process.getuid());
    if (!isOwn || stats.size > FILE_BYTES_MAX) return undefined;
    const bytes = Buffer.alloc(stats.size);
    const text = bytes.toString('utf8', 0, readSync(file, bytes));
    const { pid, instanceId } = JSON.parse(text) as Partial<Instance>;
    return typeof pid === 'number' && typeof instanceId === 'string'
      ? { pid, instanceId }
      : undefined;
  } finally {
    closeSync(file);
  }
}

/**
 * Removes the file of an instance. The file is renamed first and then read again: if another registration has replaced
 * the one of the instance meanwhile, the new one is restored under its name. Throws the errors of the file system.
 */
export function removeInstance(folder: string, name: string, { pid, instanceId }: Instance): void {
  const path = join(folder, name);
  const taken = join(folder, `.${pid}-${instanceId}.tmp`);
  if (taken !== path) renameSync(path, taken);
  try {
    if (taken !== path && !isOf(taken, instanceId)) linkSync(taken, path);
  } finally {
    rmSync(taken);
  }
}

function isOf(path: string, instanceId: string): boolean {
  try {
    return readInstance(path)?.instanceId === instanceId;
  } catch {
    return false;
  }
}

/** Returns 8 hexadecimal digits that identify the PID namespace of this process; an empty text if it is unknown. */
function namespaceDigits(): string {
  const namespace = process.platform === 'linux' ? linuxNamespace() : process.platform;
  if (namespace === undefined) return '';
  return hash('sha256', `${hostname()}\n${namespace}`, 'hex').slice(0, NAMESPACE_DIGITS);
}

/**
 * Returns the PID namespace; undefined if it is unknown. Containers on one kernel have separate namespaces, in which
 * the same process id belongs to different processes.
 */
function linuxNamespace(): string | undefined {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return undefined;
  }
}
