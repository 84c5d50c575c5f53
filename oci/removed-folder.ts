// RemovedFolder: removes a folder with all that is in it, also where folders in it may not be changed. It follows no links.
import { chmod, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Removes the folder if it is there. Rejects with the file system's error. */
export async function removeFolder(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EACCES' && code !== 'EPERM' && code !== 'ENOTEMPTY') throw error;
    await makeChangeable(path);
    await rm(path, { recursive: true, force: true });
  }
}

async function makeChangeable(folder: string): Promise<void> {
  await chmod(folder, 0o700);
  for (const entry of await readdir(folder, { withFileTypes: true }))
    if (entry.isDirectory()) await makeChangeable(join(folder, entry.name));
}
