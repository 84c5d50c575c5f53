// The entry point of the compiler: builds a component from an author's AssemblyScript file.
import { readFile } from 'node:fs/promises';
import { BuildError } from './build-error.ts';
import { DEFAULT_BUILD_LIMITS } from './build-limits.ts';
import { buildInThread, type BuiltComponent } from './build-thread.ts';
import type { OptimizeLevel } from './core-module.ts';

export { BuildError, problemText, type Problem, type ProblemPart } from './build-error.ts';
export { hashOfInput, type BuildInput } from './build-inputs.ts';
export type { BuiltComponent } from './build-thread.ts';
export type { ModuleSourceMap } from './source-map.ts';

export interface BuildOptions {
  /** The file that registers the components; it may be in any folder. */
  readonly entryFile: string;
  /** Milliseconds until the build is cancelled; 120,000 by default. */
  readonly timeoutMs?: number;
  /** Mebibytes of heap that the compiler may use; 2,048 by default. */
  readonly heapMaxMb?: number;
  /** Optimisation level, 3 by default. A lower level builds faster, but the module is larger and slower. */
  readonly optimizeLevel?: OptimizeLevel;
  /** Whether to create a source map, which is not part of the component; true by default. */
  readonly sourceMap?: boolean;
}

/** Builds a component; the same files give the same bytes. Throws BuildError, whose message is readable by itself. */
export async function buildComponent(options: BuildOptions): Promise<BuiltComponent> {
  const { entryFile, optimizeLevel, sourceMap } = options;
  if (!entryFile.endsWith('.ts'))
    throw new BuildError([
      { message: `'${entryFile}' is not an AssemblyScript file: its name must end in .ts` },
    ]);
  const manifest = JSON.parse(
    await readFile(new URL('../package.json', import.meta.url), 'utf8'),
  ) as { readonly name: string; readonly version: string };
  return buildInThread(
    {
      entryFile,
      sdk: { name: manifest.name, version: manifest.version },
      optimizeLevel,
      sourceMap,
    },
    {
      timeoutMs: options.timeoutMs ?? DEFAULT_BUILD_LIMITS.timeoutMs,
      heapMaxMb: options.heapMaxMb ?? DEFAULT_BUILD_LIMITS.heapMaxMb,
    },
  );
}
