// svc build: AssemblyScript in, component out.
import { writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { buildComponent } from '@svc/guest-sdk/compiler';
import { readArguments } from '../arguments.ts';
import { EXIT_CODE, type Command, type ExitCode } from '../command.ts';

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
    const startedMs = performance.now();
    const { component, descriptor } = await buildComponent({ entryFile });
    await writeFile(output, component);
    const routes = descriptor.endpoints.flatMap((endpoint) => endpoint.routes);
    process.stderr.write(
      `${output}: ${Math.ceil(component.length / 1024)} KiB, ` +
        `${count(descriptor.entities.length, 'entity', 'entities')}, ${count(routes.length, 'route', 'routes')}, ` +
        `in ${((performance.now() - startedMs) / 1000).toFixed(1)} s\n`,
    );
    return EXIT_CODE.ok;
  },
};

function count(number: number, one: string, many: string): string {
  return `${number} ${number === 1 ? one : many}`;
}
