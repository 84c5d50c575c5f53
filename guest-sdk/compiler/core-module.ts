// Runs the AssemblyScript compiler on a user's entry file, with the SDK in place.
import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DiagnosticMessage } from 'assemblyscript';
import { main } from 'assemblyscript/asc';
import type { ModuleDescriptor } from '@svc/contract';
import { BuildError, type Problem } from './build-error.ts';
import { isWritten } from './inject.ts';
import { sdkTransform, type BuildState } from './sdk-transform.ts';
import { problemAt } from './syntax.ts';

const ASSEMBLY_FOLDER = fileURLToPath(new URL('../assembly/', import.meta.url));
/** Not a name that a user's file is likely to have. */
const ENTRY = 'svc-module-entry';
const SDK_FILE = /(?:^|[/\\])node_modules[/\\]@svc[/\\]guest-sdk[/\\](.+)$/;
const ERROR_CATEGORY = 3;

/**
 * The runtime puts all of them back after each request, at half a microsecond each; and it replaces
 * an instance whose memory has grown, at a hundred. Three hold a reply of 7,000 characters.
 */
const INITIAL_MEMORY_PAGES = 3;
/** 64 MiB; the runtime may allow less. */
const MAXIMUM_MEMORY_PAGES = 1024;

export interface CoreModule {
  readonly core: Uint8Array;
  readonly descriptor: ModuleDescriptor;
  /** What the compiler remarked without failing. */
  readonly warnings: readonly Problem[];
}

/** Throws BuildError. */
export async function compileCoreModule(
  entryFile: string,
  sdk: BuildState['sdk'],
): Promise<CoreModule> {
  const entry = resolve(entryFile);
  const folder = dirname(entry);
  if ((await readText(entry)) === null)
    throw new BuildError([
      { message: `'${entryFile}' cannot be read: name the file that registers your components` },
    ]);
  const state: BuildState = { sdk, problems: [], descriptor: undefined, diagnostics: [] };
  let core: Uint8Array | undefined;
  const silent = { write: () => true };
  const { error } = await main(
    [
      `${ENTRY}.ts`,
      '--outFile=module.wasm',
      '--runtime=minimal',
      '-O3',
      `--initialMemory=${INITIAL_MEMORY_PAGES}`,
      `--maximumMemory=${MAXIMUM_MEMORY_PAGES}`,
      `--baseDir=${folder}`,
    ],
    {
      stdout: silent,
      stderr: silent,
      transforms: [sdkTransform(state)] as never,
      readFile: async (name, base) => {
        if (name === `${ENTRY}.ts`) return entrySource(entry);
        const sdkFile = SDK_FILE.exec(name)?.[1];
        return readText(
          sdkFile === undefined ? resolve(base, name) : join(ASSEMBLY_FOLDER, sdkFile),
        );
      },
      writeFile: (name, contents) => {
        if (name.endsWith('.wasm') && typeof contents !== 'string') core = contents;
      },
      listFiles: async (name, base) => {
        const files = await readdir(resolve(base, name)).catch(() => null);
        return files === null ? null : files.filter((file) => file.endsWith('.ts'));
      },
      reportDiagnostic: () => undefined,
    },
  );
  if (state.problems.length > 0) throw new BuildError(state.problems);
  const errors = state.diagnostics.filter((one) => isError(one)).map((one) => problemOf(one));
  const warnings = state.diagnostics
    .filter((one) => !isError(one))
    .map((one) => problemOf(one))
    .filter((one) => one.file?.startsWith('~lib/') !== true);
  if (errors.length > 0) throw new BuildError(errors);
  if (error !== null || core === undefined || state.descriptor === undefined)
    throw new BuildError([{ message: error?.message ?? 'the compiler gave no module' }], {
      cause: error,
    });
  return { core, descriptor: state.descriptor, warnings };
}

/** The user's file first, so that what it registers is registered before anything is served. */
function entrySource(entry: string): string {
  const name = basename(entry).replace(/\.ts$/, '');
  return `import "./${name}";\nimport "@svc/guest-sdk/glue";\nexport * from "@svc/guest-sdk/abi";\n`;
}

async function readText(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch {
    return null;
  }
}

function isError(diagnostic: DiagnosticMessage): boolean {
  const category: number = diagnostic.category;
  return category === ERROR_CATEGORY;
}

function problemOf(diagnostic: DiagnosticMessage): Problem {
  const { range } = diagnostic;
  const message = `${diagnostic.message} (AS${diagnostic.code})`;
  if (range === null) return { message };
  if (!isWritten(range.source)) return problemAt(range, message);
  const code = range.source.text.slice(range.start, range.end);
  return {
    file: range.source.normalizedPath,
    message: `${message}; in what the SDK has written for this file: ${code}`,
  };
}
