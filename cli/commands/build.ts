// svc build: AssemblyScript in, component out.
import { writeFile } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import {
  buildComponent,
  BuildError,
  problemText,
  type BuiltComponent,
} from '@svc/guest-sdk/compiler';
import { readArguments } from '../arguments.ts';
import { CommandFailure, EXIT_CODE, UsageError, type Command, type ExitCode } from '../command.ts';

export const build: Command = {
  help: `Compiles an AssemblyScript file, and what it imports, to a component.

Usage: svc build FILE.ts [-o OUT.wasm]

  -o, --output OUT.wasm   the component        (default: FILE.wasm in this folder)

Exits with 1 when it does not compile; the messages name file and line.

Example:
  svc build assembly/index.ts -o shopping-cart.wasm
`,
  async run(args): Promise<ExitCode> {
    const { values, positionals } = readArguments(
      'build',
      args,
      { output: { type: 'string', short: 'o' } },
      ['FILE.ts'],
    );
    const entryFile = positionals[0]!;
    const output = values.output ?? `${basename(entryFile).replace(/\.ts$/, '')}.wasm`;
    if (resolve(output) === resolve(entryFile))
      throw new UsageError(
        `build would write over its source ${entryFile}. Name another file with -o.`,
      );
    const startedMs = performance.now();
    const { component, descriptor, warnings } = await compile(entryFile);
    for (const warning of warnings) process.stderr.write(`warning: ${problemText(warning)}\n`);
    await write(output, component);
    const routes = descriptor.endpoints.flatMap((endpoint) => endpoint.routes);
    process.stderr.write(
      `${output}: ${Math.ceil(component.length / 1024)} KiB, ` +
        `${count(descriptor.entities.length, 'entity', 'entities')}, ${count(routes.length, 'route', 'routes')}, ` +
        `in ${((performance.now() - startedMs) / 1000).toFixed(1)} s\n`,
    );
    return EXIT_CODE.ok;
  },
};

/** The compiler's messages go ahead of the failure, since they may be many. */
async function compile(entryFile: string): Promise<BuiltComponent> {
  try {
    return await buildComponent({ entryFile });
  } catch (error) {
    if (!(error instanceof BuildError)) throw error;
    process.stderr.write(`${error.message}\n`);
    throw new CommandFailure(
      'SVC_BUILD_FAILED',
      `${entryFile} does not compile to a component. Mend what is named above.`,
      { cause: error },
    );
  }
}

async function write(output: string, component: Uint8Array): Promise<void> {
  try {
    await writeFile(output, component);
  } catch (error) {
    throw new CommandFailure(
      'SVC_BUILD_FAILED',
      `The component cannot be written to ${output} (${(error as NodeJS.ErrnoException).code}). ` +
        'Name a file in a folder that exists with -o.',
      { cause: error },
    );
  }
}

function count(number: number, one: string, many: string): string {
  return `${number} ${number === 1 ? one : many}`;
}
