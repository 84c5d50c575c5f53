// EmbeddedProgram: a program that embeds the runtime as the image of a service: the example of feature flags, with the packages that it
// imports as they are published. Linux only.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { LocalMachine } from './local-machine.ts';
import { buildNodeImage } from './node-image.ts';
import { archiveOfPackages } from './packed-packages.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const EXAMPLE = join(ROOT, 'examples/06-embedded/src');
/** The package of the workspace that has the runtime. */
const PACKAGES = ['host'];

/** Makes the packages in a folder. Returns an archive with `/app/node_modules`. */
export function archiveOfRuntime(folder: string): string {
  return archiveOfPackages(folder, PACKAGES);
}

/** Stores the program as an image of the machine. `change`: replaced in its sources, so that an image has another version of it. */
export function storeProgram(
  machine: LocalMachine,
  layout: string,
  archive: string,
  further: Readonly<Record<string, string>> = {},
): void {
  const sources = readdirSync(EXAMPLE).map((name): [string, string] => [
    `/app/src/${name}`,
    readFileSync(join(EXAMPLE, name), 'utf8'),
  ]);
  buildNodeImage(
    join(machine.cwd, 'images', layout),
    { '/app/package.json': '{"type": "module"}', ...Object.fromEntries(sources), ...further },
    { cmd: ['/app/src/deployed.ts'], user: 'node', tag: '1', archives: [archive] },
  );
}
