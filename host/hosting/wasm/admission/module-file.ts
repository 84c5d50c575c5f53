// ModuleFile: reads a module's file, up to the largest size that a module may have. A file that is not
// regular (a device, a pipe) is not read at all: it may have no end, or block the reader before its
// beginning.
import { constants, type Stats } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { SvcError } from '@svc/kit/svc-error';

/** Reads the file. Throws SVC_MODULE_UNREADABLE, SVC_MODULE_TOO_LARGE. */
export async function readModuleFile(file: string, bytesMax: number): Promise<Uint8Array> {
  // Without O_NONBLOCK, opening a pipe waits for a writer.
  const handle = await readable(file, () =>
    open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)),
  );
  try {
    const stats = await readable(file, () => handle.stat());
    if (!stats.isFile()) throw unreadable(file, kindOf(stats));
    if (stats.size > bytesMax)
      throw new SvcError(
        'SVC_MODULE_TOO_LARGE',
        `The module has ${stats.size} bytes, and the limit is ${bytesMax} ` +
          '(svc.wasm.module-bytes-max). Build a smaller module.',
      );
    return await readable(file, () => readUpTo(handle, stats.size));
  } finally {
    await handle.close();
  }
}

/** Reads at most `length` bytes, whatever size the file has grown to. */
async function readUpTo(handle: FileHandle, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await handle.read(bytes, filled, length - filled, filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}

async function readable<T>(file: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw unreadable(file, (error as NodeJS.ErrnoException).code ?? 'unknown', error);
  }
}

function kindOf(stats: Stats): string {
  return stats.isDirectory() ? 'EISDIR' : 'it is no regular file';
}

function unreadable(file: string, why: string, cause?: unknown): SvcError {
  return new SvcError(
    'SVC_MODULE_UNREADABLE',
    `The module ${file} cannot be read (${why}). Give the path of a .wasm file.`,
    { cause },
  );
}
