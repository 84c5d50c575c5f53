// The compiler's one door: from a user's AssemblyScript file to a component.
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
  /** The file that registers the components; it may lie anywhere. */
  readonly entryFile: string;
  /** Milliseconds until the build is given up; without it 120,000. */
  readonly timeoutMs?: number;
  /** Mebibytes of heap that the compiler may use; without it 2,048. */
  readonly heapMaxMb?: number;
  /** Without it 3. A lower one builds faster, and the module is larger and slower. */
  readonly optimizeLevel?: OptimizeLevel;
  /** Whether one is made, which is not a part of the component; without it true. */
  readonly sourceMap?: boolean;
}

/** The same files give the same bytes. Throws BuildError, whose message is readable as it is. */
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
