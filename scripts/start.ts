// `npm start`: builds the example cart and serves it. `npm start -- MODULE.wasm [FLAG ...]` serves another module
// instead. The program continues as `svc run`. The log is text unless SVC_LOG is set, so the routes and example
// requests are printed even if the output is a file or a pipe.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { compileFixture } from '../test/support/compile-fixture.ts';
import { run } from '../cli/commands/run.ts';

const root = join(import.meta.dirname, '..');

async function buildCart(): Promise<string> {
  const file = join(root, 'build', 'shopping-cart.wasm');
  if (!existsSync(file)) process.stderr.write('svc: building the example shopping cart\n');
  const component = await compileFixture('shopping-cart');
  mkdirSync(join(root, 'build'), { recursive: true });
  writeFileSync(file, component);
  return relative(process.cwd(), file);
}

process.env['SVC_LOG'] ??= 'text';
const args = process.argv.slice(2);
const modules = args.filter((arg) => arg.endsWith('.wasm'));
process.exitCode = await run.run(modules.length > 0 ? args : [await buildCart(), ...args]);
