// PreloadedLibrary is a library in C that is between a process and the C library (LD_PRELOAD). It is built once, with the system's compiler,
// and stays in `build/` under a hash of its source.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { basename, join } from 'node:path';

const BUILD = join(import.meta.dirname, '..', '..', 'build');

export type PreloadedLibrary =
  | { readonly path: string; readonly problem?: undefined }
  /** Why this system cannot have it. */
  | { readonly path?: undefined; readonly problem: string };

/** Returns a function that builds the library of a source with its first call. */
export function preloadedLibrary(source: string): () => PreloadedLibrary {
  let library: PreloadedLibrary | undefined;
  return () => (library ??= built(source));
}

function built(source: string): PreloadedLibrary {
  if (process.platform !== 'linux')
    return { problem: `a library is preloaded on Linux only, and this is ${process.platform}` };
  const hash = createHash('sha256').update(readFileSync(source)).digest('hex').slice(0, 20);
  const path = join(BUILD, `${basename(source, '.c')}-${process.arch}-${hash}.so`);
  if (existsSync(path)) return { path };
  mkdirSync(BUILD, { recursive: true });
  const partial = `${path}.${process.pid}`;
  const compiler = spawnSync(
    'cc',
    ['-shared', '-fPIC', '-O1', '-o', partial, source, '-ldl', '-lpthread'],
    { encoding: 'utf8' },
  );
  if (compiler.status !== 0)
    return { problem: `cc: ${compiler.error?.message ?? compiler.stderr.trim()}` };
  renameSync(partial, path);
  return { path };
}
