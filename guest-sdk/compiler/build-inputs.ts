// BuildInputs: the files that a build depends on: the same files give the same module.
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';

/** A file that a build has read, or has looked for without finding it; files of the SDK are not included. */
export interface BuildInput {
  /** Absolute path. */
  readonly file: string;
  /** Hash of the text; null if the file does not exist. */
  readonly hash: string | null;
}

/** Returns the hash of a file as in `BuildInput`; null if the file does not exist. */
export async function hashOfInput(file: string): Promise<string | null> {
  const text = await readText(file);
  return text === null ? null : hash('sha256', text);
}

/** Returns the text of a file without a byte order mark; null if the file does not exist. */
export async function readText(file: string): Promise<string | null> {
  try {
    return (await readFile(file, 'utf8')).replace(/^\ufeff/, '');
  } catch {
    return null;
  }
}
