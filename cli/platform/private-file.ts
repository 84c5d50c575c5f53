// PrivateFile: a small file of JSON that only its user may read. It is replaced as a whole, so that a reader and a crash see the old
// or the new content.
import {
  closeSync,
  fsyncSync,
  fstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { makePrivateFolder } from './user-folders.ts';

/** Maximum size of a file that is read, in bytes. */
const BYTES_MAX = 1024 * 1024;

/** The content of a file, and whether others than its user may read or write it. */
interface PrivateContent {
  /** Undefined: the file is too large, or is not JSON. */
  readonly value: unknown;
  readonly isShared: boolean;
}

/** Reads a file; undefined if there is none. Throws the errors of Node's file functions. */
export function readPrivateFile(path: string): PrivateContent | undefined {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    const { mode, size } = fstatSync(file);
    const isShared = (mode & 0o077) !== 0;
    if (size > BYTES_MAX) return { value: undefined, isShared };
    return { value: parsed(readFileSync(file, 'utf8')), isShared };
  } finally {
    closeSync(file);
  }
}

/** Writes a file with mode 0600, and its folder with mode 0700 if there is none. Throws the errors of Node's file functions. */
export function writePrivateFile(path: string, value: unknown): void {
  makePrivateFolder(dirname(path));
  const beside = join(dirname(path), `.${crypto.randomUUID()}.part`);
  try {
    const file = openSync(beside, 'wx', 0o600);
    try {
      writeSync(file, `${JSON.stringify(value, undefined, 2)}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(beside, path);
  } catch (error) {
    rmSync(beside, { force: true });
    throw error;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
