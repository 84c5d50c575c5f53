// A line of the module's sources, as it is now: it may have been changed since the module was built.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SourceLocation } from '@svc/contract';

/** `root`: of the project. Undefined: it cannot be read, as in the library. */
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
