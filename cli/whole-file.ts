// WholeFile: writes a file under another name beside its target and then renames it, so that a reader sees the old or
// the new bytes, never a part, even if the writer crashes. Devices and pipes are written directly.
import { open, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Writes a file. Throws the errors of Node's file functions. */
export async function writeWholeFile(path: string, bytes: Uint8Array): Promise<void> {
  const known = await existing(path);
  // A device or a pipe cannot be replaced by renaming.
  if (known !== undefined && !known.stats.isFile()) return writeFile(path, bytes);
  // A symbolic link is kept, and its target is replaced.
  const target = known?.path ?? path;
  // The temporary name is random, because the file's own name with a suffix might be too long.
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

/** Returns the target of a path, with symbolic links resolved, and its stats; undefined if it does not exist. */
async function existing(path: string) {
  try {
    return { path: await realpath(path), stats: await stat(path) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
