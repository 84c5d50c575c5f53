// SourceMapFile: the source map beside a module, named like the module with the suffix `.map`.
import { statSync } from 'node:fs';
import { dirname, relative, resolve, sep } from 'node:path';
import type { ModuleSourceMap } from '@svc/guest-sdk/compiler';
import { writeWholeFile } from './whole-file.ts';

/** Writes the map, unless the module is written to a device or a pipe. Throws the errors of Node's file functions. */
export async function writeSourceMap(
  map: ModuleSourceMap,
  { module, entryFile }: { readonly module: string; readonly entryFile: string },
): Promise<void> {
  const known = statSync(module, { throwIfNoEntry: false });
  if (known !== undefined && !known.isFile()) return;
  const { version, ...rest } = map;
  const sourceRoot = rootOf(dirname(resolve(module)), dirname(resolve(entryFile)));
  const text = JSON.stringify({ version, ...sourceRoot, ...rest });
  await writeWholeFile(`${module}.map`, Buffer.from(`${text}\n`));
}

/** Returns the path from the folder of the module to the folder of the entry file; no member if both are the same. */
function rootOf(from: string, to: string): { readonly sourceRoot?: string } {
  const path = relative(from, to).split(sep).join('/');
  return path === '' ? {} : { sourceRoot: `${path}/` };
}
