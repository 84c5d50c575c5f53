// SyncedFolder: has the names in a folder on disk, so that a file that was renamed or made there is found after a crash of the machine.
import { open } from 'node:fs/promises';

/** Resolves once the names are on disk. Rejects with the file system's error. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
