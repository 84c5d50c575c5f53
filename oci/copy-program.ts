// CopyProgram: the static program that copies the module out of its image, for each architecture. images/copy/ has its source.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Architectures of images, by the names that Go gives them, in the order of the index. */
export const ARCHITECTURES = ['amd64', 'arm64'] as const;
export type Architecture = (typeof ARCHITECTURES)[number];

/** A published package has its own copy of images/copy, and a checkout has the folder beside this one. */
const folder = [import.meta.dirname, join(import.meta.dirname, '..')]
  .map((above) => join(above, 'images', 'copy'))
  .find((candidate) => existsSync(candidate));

export function copyProgram(architecture: Architecture): Uint8Array {
  if (folder === undefined) throw new Error('the package has no folder images/copy');
  return readFileSync(join(folder, `copy-${architecture}`));
}
