// MachineLock: the folder of a machine belongs to one orchestrator at a time. The lock is one of the operating system, which ends with its
// process; a file beside it names the owner, for the message of the next one.
import { mkdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { FolderLock } from '@svc/kit/folder-lock';
import { SvcError } from '@svc/kit/svc-error';
import { replaceJsonFile } from './json-file.ts';

const OWNER_CHARACTERS_MAX = 1000;

export class MachineLock implements Disposable {
  /** The folder's path without links, so that a process can be told from those of another machine folder. */
  readonly folder: string;
  readonly #lock: FolderLock;
  readonly #ownerFile: string;
  #isReleased = false;

  /** Makes the folder if it is missing, and locks it. Throws SVC_MACHINE_IN_USE, SVC_DATA_UNUSABLE and SVC_DISK_FULL. */
  constructor(folder: string) {
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      this.folder = realpathSync(folder);
      this.#lock = new FolderLock(join(this.folder, 'lock'));
      this.#ownerFile = join(this.folder, 'owner.json');
      if (!this.#lock.tryTake()) throw inUse(folder, ownerIn(this.#ownerFile));
      replaceJsonFile(this.#ownerFile, { pid: process.pid });
    } catch (error) {
      throw error instanceof SvcError ? error : unusable(folder, error as NodeJS.ErrnoException);
    }
  }

  /** Releases the lock. Doing it again does nothing: the folder may be another one's by then. */
  [Symbol.dispose](): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    rmSync(this.#ownerFile, { force: true });
    this.#lock.release();
  }
}

function inUse(folder: string, pid: number | undefined): SvcError {
  const owner = pid === undefined ? 'another process' : `the process ${pid}`;
  return new SvcError(
    'SVC_MACHINE_IN_USE',
    `The folder ${folder} is in use by ${owner}, which runs the services in it. Stop that control plane first, or set another folder with svc.local.folder.`,
  );
}

function unusable(folder: string, cause: NodeJS.ErrnoException): SvcError {
  return new SvcError(
    cause.code === 'ENOSPC' ? 'SVC_DISK_FULL' : 'SVC_DATA_UNUSABLE',
    `The folder ${folder} cannot be used for services of this machine: ${cause.message}. Set a folder with svc.local.folder that this user may read and write, on a disk with space.`,
    { cause },
  );
}

/** Returns the process that the file names; undefined if there is no such file, or it is of another form. */
function ownerIn(file: string): number | undefined {
  try {
    const text = readFileSync(file, 'utf8').slice(0, OWNER_CHARACTERS_MAX);
    const { pid } = JSON.parse(text) as { readonly pid?: unknown };
    return Number.isSafeInteger(pid) ? (pid as number) : undefined;
  } catch {
    return undefined;
  }
}
