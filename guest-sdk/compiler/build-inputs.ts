// The files that a build depends on: with the same ones it gives the same module.
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';

/** A file that a build has read, or looked for in vain; those of the SDK are not among them. */
export interface BuildInput {
  /** An absolute path. */
  readonly file: string;
  /** Hash of the text; null when there was no such file. */
  readonly hash: string | null;
}

/** The hash of a file as `BuildInput` has it; null when there is no such file. */
export async function hashOfInput(file: string): Promise<string | null> {
  const text = await readText(file);
  return text === null ? null : hash('sha256', text);
}

/** Null: there is no such file. A mark of the byte order is no part of the text. */
export async function readText(file: string): Promise<string | null> {
  try {
    return (await readFile(file, 'utf8')).replace(/^\ufeff/, '');
  } catch {
    return null;
  }
}
