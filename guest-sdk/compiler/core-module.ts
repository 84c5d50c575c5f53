// CoreModule: runs the AssemblyScript compiler on an author's entry file together with the SDK.
import { hash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { main } from 'assemblyscript/asc';
import type { ModuleDescriptor } from '@svc/contract';
import { BuildError, inOrder, type Problem } from './build-error.ts';
import { readSource, readText, type BuildInput } from './build-inputs.ts';
import { CompilerCrash, withoutExit } from './compiler-crash.ts';
import { errorProblems, isError, isLibrary, warningProblems } from './compiler-messages.ts';
import { NO_NAMES } from './diagnostic-help.ts';
import { noteCallSites } from './call-sites.ts';
import { sdkTransform, type BuildState } from './sdk-transform.ts';
import { type CoreSourceMap, takeSourceMap } from './source-map.ts';

const ASSEMBLY_FOLDER = fileURLToPath(new URL('../assembly/', import.meta.url));
/** Name of the generated entry file; an author's file with this name would be mistaken for it. */
const ENTRY = 'svc-module-entry';
const SDK_FILE = /(?:^|[/\\])node_modules[/\\]@svc[/\\]guest-sdk[/\\](.+)$/;
const ERRORS_SHOWN_MAX = 50;

/** Maximum memory of a module, in pages of 64 KiB: 64 MiB; the runtime may allow less. */
const MAXIMUM_MEMORY_PAGES = 1024;

export interface CoreModule {
  readonly core: Uint8Array;
  /** Undefined if no source map was requested. */
  readonly sourceMap: CoreSourceMap | undefined;
  readonly descriptor: ModuleDescriptor;
  /** Files outside of the SDK that the build has read or looked for: the same files give the same module. */
  readonly inputs: readonly BuildInput[];
  /** Warnings of the compiler. */
  readonly warnings: readonly Problem[];
}

/** Optimization level, as the compiler's option `-O`. */
export type OptimizeLevel = 0 | 1 | 2 | 3;

interface CompileOptions {
  readonly optimizeLevel?: OptimizeLevel | undefined;
  readonly sourceMap?: boolean | undefined;
}

/** Compiles the module. Throws BuildError; CompilerCrash or the compiler's own error if the compiler has crashed. */
export async function compileCoreModule(
  entryFile: string,
  sdk: BuildState['sdk'],
  options: CompileOptions = {},
): Promise<CoreModule> {
  const entry = resolve(entryFile);
  const text = await readText(entry);
  if (text === null)
    throw new BuildError([
      { message: `'${entryFile}' cannot be read: name the file that registers your components` },
    ]);
  if (basename(entry) === `${ENTRY}.ts`)
    throw new BuildError([
      { message: `the name '${ENTRY}.ts' is the compiler's own: give the file another one` },
    ]);
  if (text.includes('\0'))
    throw new BuildError([
      { message: `'${entryFile}' is not text: name a file of AssemblyScript, in UTF-8` },
    ]);
  const named = (problem: Problem): Problem => besideEntry(problem, entryFile);
  const state: BuildState = {
    sdk,
    entryName: basename(entry),
    problems: [],
    warnings: [],
    descriptor: undefined,
    known: NO_NAMES,
    diagnostics: [],
    sourceNumbers: new Set(),
  };
  noteCallSites(isLibrary);
  const inputs = new Map<string, string | null>();
  let compiled: Compiled | undefined;
  let crash: unknown;
  try {
    compiled = await withoutExit(() => run(entry, state, inputs, options));
  } catch (error) {
    crash = error;
  }
  const errors = (
    state.problems.length > 0 ? state.problems : errorProblems(state.diagnostics, state.known)
  ).map(named);
  if (errors.length > 0) throw new BuildError(firstOf(errors));
  if (crash !== undefined) throw crash;
  if (compiled?.core === undefined || state.descriptor === undefined)
    throw new CompilerCrash('it gave no module');
  const remarks = warningProblems(state.diagnostics, state.known);
  const warnings = inOrder([...state.warnings, ...remarks].map((problem) => named(problem)));
  const { core, map } = compiled;
  const withMap =
    map === undefined
      ? { core, sourceMap: undefined }
      : takeSourceMap(core, map, state.sourceNumbers);
  return {
    ...withMap,
    descriptor: state.descriptor,
    inputs: [...inputs].map(([file, textHash]) => ({ file, hash: textHash })),
    warnings,
  };
}

interface Compiled {
  /** Undefined if the state has problems or errors of the compiler. */
  readonly core: Uint8Array | undefined;
  readonly map: string | undefined;
}

async function run(
  entry: string,
  state: BuildState,
  inputs: Map<string, string | null>,
  { optimizeLevel = 3, sourceMap = true }: CompileOptions,
): Promise<Compiled> {
  let core: Uint8Array | undefined;
  let map: string | undefined;
  const silent = { write: () => true };
  const { error } = await main(
    [
      `${ENTRY}.ts`,
      '--outFile=module.wasm',
      '--runtime=minimal',
      `-O${optimizeLevel}`,
      `--maximumMemory=${MAXIMUM_MEMORY_PAGES}`,
      `--baseDir=${dirname(entry)}`,
      // Adds names of functions and source locations; the code is the same.
      ...(sourceMap ? ['--sourceMap', '--debug'] : []),
    ],
    {
      stdout: silent,
      stderr: silent,
      transforms: [sdkTransform(state)] as never,
      readFile: async (name, base) => {
        if (name === `${ENTRY}.ts`) return entrySource(entry);
        // An asconfig.json could name options, files and transforms, which an author must not choose.
        if (!name.endsWith('.ts')) return null;
        const sdkFile = SDK_FILE.exec(name)?.[1];
        if (sdkFile !== undefined) return readText(join(ASSEMBLY_FOLDER, sdkFile));
        const file = resolve(base, name);
        const source = await readSource(file);
        inputs.set(file, source && hash('sha256', source.text));
        if (source?.isUtf8 === false)
          state.problems.push(encodingProblem(relative(dirname(entry), file), source.text));
        return source && source.text;
      },
      writeFile: (name, contents) => {
        if (name.endsWith('.wasm') && typeof contents !== 'string') core = contents;
        if (name.endsWith('.map') && typeof contents === 'string') map = contents;
      },
      listFiles: async (name, base) => {
        const files = await readdir(resolve(base, name)).catch(() => null);
        return files === null ? null : files.filter((file) => file.endsWith('.ts'));
      },
      reportDiagnostic: () => undefined,
    },
  );
  const isExplained = state.problems.length > 0 || state.diagnostics.some((one) => isError(one));
  if (error !== null && !isExplained) throw new CompilerCrash(error.message, { cause: error });
  return { core, map };
}

/** Reports the first bytes of a file that are not UTF-8. An editor shows them as U+FFFD, too. */
function encodingProblem(file: string, text: string): Problem {
  const at = text.indexOf('\ufffd');
  const lineStart = text.lastIndexOf('\n', at) + 1;
  return {
    file,
    line: text.slice(0, at).split('\n').length,
    column: at - lineStart + 1,
    sourceLine: text.slice(lineStart).split('\n', 1)[0]!.trimEnd(),
    message: 'the file is not in UTF-8',
    help: 'save it in UTF-8: it is in another encoding, or is no text',
  };
}

/** Returns the first errors, and, if there are more, one that counts the rest. */
function firstOf(errors: readonly Problem[]): Problem[] {
  const first = inOrder(errors).slice(0, ERRORS_SHOWN_MAX);
  const more = errors.length - first.length;
  return more === 0 ? first : [...first, { message: `${more} more errors are not shown` }];
}

/** Puts the folder of a relative `entryFile` before the problem's path: both are then relative to the same folder. */
function besideEntry(problem: Problem, entryFile: string): Problem {
  if (problem.file === undefined || problem.file.startsWith('~lib/') || isAbsolute(entryFile))
    return problem;
  return { ...problem, file: join(dirname(entryFile), problem.file) };
}

/**
 * Returns the generated entry file. The files of a module are initialised in the order of its imports. The
 * implementation of `abort` comes first, so that a file that fails during its initialisation can report the reason.
 */
function entrySource(entry: string): string {
  const name = basename(entry).replace(/\.ts$/, '');
  return [
    'import "@svc/guest-sdk/environment";',
    `import "./${name}";`,
    'import "@svc/guest-sdk/glue";',
    'export * from "@svc/guest-sdk/abi";',
    '',
  ].join('\n');
}
