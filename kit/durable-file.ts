// DurableFile: small files that are there as a whole or not at all, also after a crash.
import { randomUUID } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncFolder } from './synced-folder.ts';

/** Ending of files that a crash may leave; whoever opens the folder deletes them. */
export const PART_ENDING = '.part';

/** Writes a file, and resolves once it is on disk under its name. Rejects with the errors of the file system. */
export async function writeDurably(path: string, content: Uint8Array | string): Promise<void> {
  const folder = dirname(path);
  const part = join(folder, `${randomUUID()}${PART_ENDING}`);
  await makeFolder(folder);
  try {
    const handle = await open(part, 'wx', 0o600);
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await renameDurably(part, path);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

/** Makes a folder and those above it, and resolves once all their names are on disk. */
export async function makeFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let made = folder; made.length >= first.length; made = dirname(made))
    await syncFolder(dirname(made));
}

/** Gives a file that is on disk its name. */
export async function renameDurably(from: string, to: string): Promise<void> {
  await rename(from, to);
  await syncFolder(dirname(to));
}
