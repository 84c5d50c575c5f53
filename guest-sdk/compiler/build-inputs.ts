// BuildInputs: the files that a build depends on. The same files give the same module.
import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';

/** A file that a build has read or has tried to read; files of the SDK are not included. */
export interface BuildInput {
  /** Absolute path. */
  readonly file: string;
  /** SHA-256 of the text; null if the file cannot be read. */
  readonly hash: string | null;
}

/** Returns the hash of a file as in `BuildInput`; null if the file cannot be read. */
export async function hashOfInput(file: string): Promise<string | null> {
  const text = await readText(file);
  return text === null ? null : hash('sha256', text);
}

/** Returns the text of a file without a byte order mark; null if the file cannot be read. */
export async function readText(file: string): Promise<string | null> {
  return (await readSource(file))?.text ?? null;
}

/**
 * Returns the text of a file without a byte order mark; null if the file cannot be read. `isUtf8`: false if some bytes
 * are not UTF-8; the text has U+FFFD in their place.
 */
export async function readSource(
  file: string,
): Promise<{ readonly text: string; readonly isUtf8: boolean } | null> {
  try {
    const bytes = await readFile(file);
    return { text: bytes.toString('utf8').replace(/^\ufeff/, ''), isUtf8: isUtf8(bytes) };
  } catch {
    return null;
  }
}
