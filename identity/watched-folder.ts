// WatchedFolder: a folder of certificates whose files are replaced while the program runs. It is watched and, because a watch can be lost,
// also looked at from time to time.
//
// Invariants
// W1  One look runs at a time; a change during a look leads to another one.
// W2  A folder that takes the place of the one before is watched instead of it from the next look on.
import { type FSWatcher, watch } from 'node:fs';
import { stat } from 'node:fs/promises';

const POLL_MS = 10_000;
/** Time in milliseconds for all files to be replaced, before they are read. */
const SETTLE_MS = 50;

export interface WatchedFolderOptions {
  /** Reads the files of the folder. It does not reject. */
  readonly look: () => Promise<void>;
  /** Pause in milliseconds between two looks without a change. */
  readonly pollMs?: number | undefined;
}

export class WatchedFolder {
  readonly path: string;
  readonly #look: () => Promise<void>;
  readonly #poll: NodeJS.Timeout;
  #watcher: FSWatcher | undefined;
  /** Inode of the watched folder. */
  #watched: number | undefined;
  #settling: NodeJS.Timeout | undefined;
  #looking: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(path: string, { look, pollMs = POLL_MS }: WatchedFolderOptions) {
    this.path = path;
    this.#look = look;
    this.#poll = setInterval(() => void this.check(), pollMs).unref();
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Looks now. Resolves once files that were there before the call have been read. */
  check(): Promise<void> {
    this.#looking = this.#looking.then(async () => {
      await this.#watchAgain();
      await this.#look();
    });
    return this.#looking;
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#poll);
    clearTimeout(this.#settling);
    this.#unwatch();
  }

  /** Watches the folder if it is not watched, or if another folder has its name now. */
  async #watchAgain(): Promise<void> {
    const inode = await stat(this.path).then(
      ({ ino }) => ino,
      () => undefined,
    );
    if (inode === this.#watched) return;
    this.#unwatch();
    if (inode === undefined || this.#isClosed) return;
    try {
      this.#watcher = watch(this.path, { persistent: false }, () => this.#changed());
    } catch {
      // The system has no watch left: the folder is read from time to time.
      return;
    }
    this.#watched = inode;
    this.#watcher.on('error', () => this.#unwatch());
  }

  #unwatch(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
    this.#watched = undefined;
  }

  #changed(): void {
    if (this.#isClosed) return;
    this.#settling ??= setTimeout(() => {
      this.#settling = undefined;
      void this.check();
    }, SETTLE_MS).unref();
  }
}
