// FileEnd: the last lines of a file of text that may be long.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** Returns the end of the file, from the beginning of a line; undefined if there is no file. */
export function endOfFile(path: string, bytesMax: number): string | undefined {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    const { size } = fstatSync(file);
    const from = Math.max(0, size - bytesMax);
    const bytes = Buffer.alloc(size - from);
    const text = bytes.toString('utf8', 0, readSync(file, bytes, 0, bytes.length, from));
    return from === 0 ? text : text.slice(text.indexOf('\n') + 1);
  } finally {
    closeSync(file);
  }
}
