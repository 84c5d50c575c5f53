// JsonFile: a small file that is replaced as a whole. A reader finds the former content or the new one, also after a crash of the process,
// and unless the file is `fleeting`, of the machine.
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Returns once the content is on disk; a `fleeting` file may get there later. Throws the file system's error. */
export function replaceJsonFile(
  path: string,
  value: unknown,
  kind: 'durable' | 'fleeting' = 'durable',
): void {
  const unfinished = `${path}.new`;
  const file = openSync(unfinished, 'w', 0o600);
  try {
    writeFileSync(file, `${JSON.stringify(value)}\n`);
    if (kind === 'durable') fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(unfinished, path);
  if (kind === 'fleeting') return;
  const folder = openSync(dirname(path), 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** Returns the parsed content; undefined if there is no file, or none that is JSON. */
export function readJsonFile(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}
