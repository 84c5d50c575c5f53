// Installation: the folders of this command line, in a checkout of svc or in an installed package.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Returns the nearest folder, `from` or one above it, whose package.json has the name; undefined if there is none. */
function folderOfPackage(name: string, from: string): string | undefined {
  if (nameIn(join(from, 'package.json')) === name) return from;
  const above = dirname(from);
  return above === from ? undefined : folderOfPackage(name, above);
}

function nameIn(manifest: string): unknown {
  if (!existsSync(manifest)) return undefined;
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { readonly name?: unknown }).name;
}

/** The folder of the package `@svc/cli`; the folder of this file if no package.json with that name is found. */
const packageFolder = folderOfPackage('@svc/cli', import.meta.dirname) ?? import.meta.dirname;

/** Returns the folder of the checkout; undefined if svc is installed as a package. */
export function checkoutFolder(): string | undefined {
  const above = dirname(packageFolder);
  return nameIn(join(above, 'package.json')) === 'svc' ? above : undefined;
}

/** Returns the folder of the pages of docs/errors; a package carries a copy of them. */
export function errorPagesFolder(): string {
  return join(checkoutFolder() ?? packageFolder, 'docs', 'errors');
}

/** Returns a folder that `svc new` copies: `module`, `process-typescript` or `process-python`. */
export function templateFolder(name: string): string {
  return join(packageFolder, 'template', name);
}
