// svc build: compiles AssemblyScript to a component.
import { basename, dirname, resolve } from 'node:path';
import type { ModuleDescriptor } from '@svc/contract';
import type { BuiltComponent, Problem } from '@svc/guest-sdk/compiler';
import { command, CommandFailure, EXIT_CODE } from '../command.ts';
import { loadCompiler } from '../compiler.ts';
import { counted } from '../counted.ts';
import { printable, printableJson } from '@svc/kit/printable';
import { writeSourceMap } from '../source-map-file.ts';
import { UsageError } from '../usage-error.ts';
import { writeWholeFile } from '../whole-file.ts';

export const build = command(
  {
    name: 'build',
    summary: 'compile AssemblyScript to a component',
    about: 'Compiles an AssemblyScript file, and what it imports, to a component.',
    words: [{ name: 'FILE.ts', completes: { kind: 'file', ending: '.ts' } }],
    options: {
      output: {
        type: 'string',
        short: 'o',
        value: 'OUT.wasm',
        help: 'the component',
        otherwise: 'FILE.wasm in the working folder',
        completes: { kind: 'file', ending: '.wasm' },
      },
      'no-source-map': {
        type: 'boolean',
        help: `write no OUT.wasm.map beside it, which svc needs to report
faults with file and line`,
      },
      json: {
        type: 'boolean',
        help: 'print what was built, or why not, as JSON on stdout',
      },
    },
    notes: 'Exits with 1 when it does not compile; the messages name file and line.',
    examples: ['svc build assembly/index.ts -o shopping-cart.wasm'],
  },
  async ([entryFile], { output: named, json, 'no-source-map': withoutMap }) => {
    const output = outputFile(entryFile!, named);
    const startedMs = performance.now();
    const built = await compile(entryFile!, !withoutMap, json);
    await write(output, built, entryFile!, json);
    const seconds = (performance.now() - startedMs) / 1000;
    if (json) printJson(output, built);
    else await printReport(named ?? defaultOutput(entryFile!), built, seconds);
    return EXIT_CODE.ok;
  },
);

function outputFile(entryFile: string, named: string | undefined): string {
  if (named === 'json')
    throw new UsageError(
      "build's -o names the component. --json prints the report as JSON; a file of that name is -o ./json.",
    );
  const output = named ?? `${basename(entryFile).replace(/\.ts$/, '')}.wasm`;
  if (resolve(output) === resolve(entryFile))
    throw new UsageError(
      `build would write over its source ${entryFile}. Name another file with -o.`,
    );
  return output;
}

/** Returns the name of the default output file for the report. The file is always in the working folder. */
function defaultOutput(entryFile: string): string {
  const output = outputFile(entryFile, undefined);
  return resolve(dirname(entryFile)) === process.cwd()
    ? output
    : `${output} in the working folder (-o names another file)`;
}

/**
 * Compiles the file. If that fails, prints the problems, of which there may be many, and then throws CommandFailure,
 * whose message does not repeat them.
 */
export async function compile(
  entryFile: string,
  sourceMap: boolean,
  json: boolean,
): Promise<BuiltComponent> {
  const { buildComponent, BuildError } = await loadCompiler((message, cause) =>
    failure(message, json, cause),
  );
  try {
    return await buildComponent({ entryFile, sourceMap });
  } catch (error) {
    if (!(error instanceof BuildError)) throw error;
    const { code, problems } = error;
    if (json) process.stdout.write(jsonLine({ error: { code, problems } }));
    else process.stderr.write(await problemLines(problems));
    throw new CommandFailure(
      code,
      `${entryFile} does not compile to a component. Fix the problems above.`,
      { cause: error },
    );
  }
}

/** Returns a failure of the build. If `--json` was given, also prints it as JSON on stdout. */
function failure(message: string, json: boolean, cause: unknown): CommandFailure {
  const code = 'SVC_BUILD_FAILED';
  if (json) process.stdout.write(jsonLine({ error: { code, problems: [{ message }] } }));
  return new CommandFailure(code, message, { cause });
}

async function problemLines(problems: readonly Problem[]): Promise<string> {
  const { problemTexts } = await import('../problem-lines.ts');
  return problemTexts(problems)
    .map((text) => `${text}\n`)
    .join('\n');
}

/**
 * Writes the source map and then the component, so that whoever reads the new component finds its map. A map contains
 * the hash of its component, so a reader recognises the map of another component.
 */
async function write(
  output: string,
  { component, sourceMap }: BuiltComponent,
  entryFile: string,
  json: boolean,
): Promise<void> {
  try {
    if (sourceMap !== undefined) await writeSourceMap(sourceMap, { module: output, entryFile });
    await writeWholeFile(output, component);
  } catch (error) {
    throw failure(
      `The component cannot be written to ${output} (${(error as NodeJS.ErrnoException).code}). ` +
        'Name a file in a folder that exists with -o.',
      json,
      error,
    );
  }
}

/** Prints a report. `written`: file of the component, as it is displayed. */
async function printReport(
  written: string,
  { component, descriptor, warnings }: BuiltComponent,
  seconds: number,
): Promise<void> {
  process.stderr.write(await problemLines(warnings));
  process.stderr.write(
    `${printable(written)}: ${Math.ceil(component.length / 1024)} KiB, ` +
      `${declaredText(descriptor)}, in ${seconds.toFixed(1)} s\n`,
  );
}

/** Returns how much of each kind a module declares; what it has none of is named only if each module can be expected to have it. */
function declaredText({
  entities,
  endpoints,
  views = [],
  consumers = [],
}: ModuleDescriptor): string {
  const routes = endpoints.flatMap((endpoint) => endpoint.routes);
  return [
    counted(entities.length, 'entity', 'entities'),
    counted(routes.length, 'route', 'routes'),
    ...(views.length === 0 ? [] : [counted(views.length, 'view')]),
    ...(consumers.length === 0 ? [] : [counted(consumers.length, 'consumer')]),
  ].join(', ');
}

function printJson(output: string, { component, descriptor, warnings }: BuiltComponent): void {
  process.stdout.write(
    jsonLine({
      file: output,
      bytes: component.length,
      components: descriptor.entities.map((entity) => entity.component),
      routes: descriptor.endpoints.flatMap(({ prefix, routes }) =>
        routes.map(({ method, path }) => ({ method, path: prefix + path || '/' })),
      ),
      warnings,
    }),
  );
}

function jsonLine(value: unknown): string {
  return `${printableJson(JSON.stringify(value))}\n`;
}
