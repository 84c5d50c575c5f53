// SourceLine: a line of the module's sources as it is now, which may differ from the module that was built.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SourceLocation } from '@svc/contract';

/**
 * Returns a line. `root`: folder of the project. Returns undefined if the file has no such line or cannot be read, such
 * as a file of a library (`~lib/…`).
 */
export function readSourceLine(
  root: string,
  { file, line }: Pick<SourceLocation, 'file' | 'line'>,
): string | undefined {
  if (file.startsWith('~lib/')) return undefined;
  try {
    return readFileSync(join(root, file), 'utf8').split('\n')[line - 1];
  } catch {
    return undefined;
  }
}
