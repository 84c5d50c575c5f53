// FolderLock is the lock of a folder that one process uses: SQLite's exclusive lock on a database that is never written. It is a lock of
// the operating system, which ends with the process. A try costs a few microseconds, so a service in standby may try every
// few milliseconds.
import { chmodSync, existsSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { isBusy } from './sqlite-code.ts';

export class FolderLock {
  readonly #path: string;
  #file: { readonly database: DatabaseSync; readonly inode: number } | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** Takes the lock unless another process has it, and returns whether it did. Throws errors of the file system. */
  tryTake(): boolean {
    try {
      this.#file ??= this.#open();
      this.#file.database.exec('BEGIN EXCLUSIVE');
    } catch (error) {
      if (isBusy(error)) return false;
      this.release();
      throw error;
    }
    if (statSync(this.#path, { throwIfNoEntry: false })?.ino === this.#file.inode) return true;
    // The folder was made anew, so the lock of the file that was removed keeps nobody away.
    this.release();
    return false;
  }

  /** Releases the lock if it was taken. */
  release(): void {
    this.#file?.database.close();
    this.#file = undefined;
  }

  #open(): { readonly database: DatabaseSync; readonly inode: number } {
    const isNew = !existsSync(this.#path);
    const database = new DatabaseSync(this.#path, { timeout: 0 });
    try {
      // The same mode as the journal, so that a user who cannot read the journal cannot hold its lock either.
      if (isNew) chmodSync(this.#path, 0o600);
      return { database, inode: statSync(this.#path).ino };
    } catch (error) {
      database.close();
      throw error;
    }
  }
}
