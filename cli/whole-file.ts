// WholeFile: a file that is written beside its name and then takes it: who reads the name reads the old bytes or
// the new ones, and never a half, whenever the writer ends.
import { open, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Throws as node's own `writeFile`. */
export async function writeWholeFile(path: string, bytes: Uint8Array): Promise<void> {
  const known = await existing(path);
  // A device or a pipe has no name that could be given to a file.
  if (known !== undefined && !known.stats.isFile()) return writeFile(path, bytes);
  // A link goes on leading to the file.
  const target = known?.path ?? path;
  // Its own name and more might be too long.
  const beside = join(dirname(target), `.${crypto.randomUUID()}.part`);
  try {
    const file = await open(beside, 'w', known?.stats.mode ?? 0o666);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(beside, target);
  } catch (error) {
    await rm(beside, { force: true }).catch(() => {});
    throw error;
  }
}

async function existing(path: string) {
  try {
    return { path: await realpath(path), stats: await stat(path) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
