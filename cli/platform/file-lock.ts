// FileLock: one command at a time. The lock is SQLite's on a file that is never written: a lock of the operating system, which
// ends with its process, however that ends.
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseSync } from 'node:sqlite';
import { dirname } from 'node:path';
import { closeSync, openSync } from 'node:fs';
import { makePrivateFolder } from './user-folders.ts';

/** Pause between two attempts, in milliseconds. */
const ATTEMPT_PAUSE_MS = 20;
/** SQLITE_BUSY, the code of a lock that another process has. */
const BUSY = 5;

/**
 * Runs `work` while no other process has the lock. Rejects as `work` does, with `late()` if others had the lock for `waitMsMax`
 * milliseconds, and with the errors of Node's file functions and SQLite.
 */
export async function withFileLock<Value>(
  path: string,
  { waitMsMax, late }: { readonly waitMsMax: number; readonly late: () => Error },
  work: () => Value | Promise<Value>,
): Promise<Value> {
  makePrivateFolder(dirname(path));
  closeSync(openSync(path, 'a', 0o600));
  const untilMs = performance.now() + waitMsMax;
  for (;;) {
    const database = new DatabaseSync(path, { timeout: 0 });
    try {
      if (isTaken(database)) return await work();
    } finally {
      database.close();
    }
    if (performance.now() > untilMs) throw late();
    await sleep(ATTEMPT_PAUSE_MS);
  }
}

/** Returns whether the lock was free, and now belongs to this process until the database is closed. */
function isTaken(database: DatabaseSync): boolean {
  try {
    database.exec('BEGIN EXCLUSIVE');
    return true;
  } catch (error) {
    if ((error as { readonly errcode?: number }).errcode === BUSY) return false;
    throw error;
  }
}
