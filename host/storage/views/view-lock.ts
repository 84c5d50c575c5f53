// ViewLock makes sure that the rows of a definition have one writer, in all processes. It is a lock of the operating
// system on a file beside the view's, and ends with the process.
import { lstatSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { isBusy } from '@svc/kit/sqlite-code';
import { viewInUse } from '../view-walk/view-refusals.ts';
import { viewFailure } from './view-failure.ts';

/** How often a lock file that another writer deletes is taken again. */
const ATTEMPTS_MAX = 10;

export class ViewLock {
  readonly #path: string;
  readonly #database: DatabaseSync;

  private constructor(path: string, database: DatabaseSync) {
    this.#path = path;
    this.#database = database;
  }

  /** `viewPath`: that of the view's file. Throws SVC_VIEW_IN_USE, SVC_DATA_UNUSABLE and SVC_DISK_FULL. */
  static take(viewPath: string, definition: string): ViewLock {
    const path = lockPath(viewPath);
    try {
      for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
        const before = inodeOf(path);
        const database = locked(path);
        // The file may have been made just now, or have been deleted by the writer that had its lock.
        if (before !== undefined && before === inodeOf(path)) return new ViewLock(path, database);
        database.close();
      }
    } catch (error) {
      if (!isBusy(error)) throw viewFailure(error, 'locked', viewPath);
      throw viewInUse(definition, error);
    }
    throw viewInUse(definition);
  }

  release(): void {
    this.#database.close();
  }

  /** Releases the lock and deletes its file, for a definition whose rows are deleted. */
  remove(): void {
    rmSync(this.#path, { force: true });
    this.#database.close();
  }
}

export function lockPath(viewPath: string): string {
  return `${viewPath}.lock`;
}

/** Takes SQLite's exclusive lock on a database that is never written. */
function locked(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    database.exec('BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function inodeOf(path: string): bigint | undefined {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false })?.ino;
}
