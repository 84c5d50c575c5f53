// NamesCache: the names that a shell has just been offered. A shell asks for each key that is typed, so they are kept for a few
// seconds, in a file that only the user may read.
import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { readPrivateFile, writePrivateFile } from './private-file.ts';
import { isRecord } from './contexts.ts';
import type { UserFolders } from './user-folders.ts';

/** How long names are offered again, in milliseconds. */
const KEPT_MS = 10_000;

/** Returns names of at most ten seconds ago; undefined if there are none. Throws the errors of Node's file functions. */
export function keptNames(
  folders: UserFolders,
  key: readonly string[],
): readonly string[] | undefined {
  const value = readPrivateFile(pathOf(folders, key))?.value;
  if (!isRecord(value) || typeof value['atMs'] !== 'number' || !Array.isArray(value['names']))
    return undefined;
  const ageMs = Date.now() - value['atMs'];
  return ageMs >= 0 && ageMs < KEPT_MS ? value['names'].map(String) : undefined;
}

/** Stores names. Throws the errors of Node's file functions. */
export function keepNames(
  folders: UserFolders,
  key: readonly string[],
  names: readonly string[],
): void {
  writePrivateFile(pathOf(folders, key), { atMs: Date.now(), names });
}

/** Deletes all names, which another person may not see. Throws the errors of Node's file functions. */
export function forgetNames(folders: UserFolders): void {
  rmSync(join(folders.cache, 'names'), { recursive: true, force: true });
}

function pathOf({ cache }: UserFolders, key: readonly string[]): string {
  const name = createHash('sha256').update(JSON.stringify(key)).digest('hex').slice(0, 32);
  return join(cache, 'names', `${name}.json`);
}
