// Where this command line lies: in a checkout of svc, or installed as a package.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The nearest folder above whose package.json has the name. */
function folderOfPackage(name: string, from: string): string | undefined {
  if (nameIn(join(from, 'package.json')) === name) return from;
  const above = dirname(from);
  return above === from ? undefined : folderOfPackage(name, above);
}

function nameIn(manifest: string): unknown {
  if (!existsSync(manifest)) return undefined;
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { readonly name?: unknown }).name;
}

/** The folder of the package `@svc/cli`. */
const packageFolder = folderOfPackage('@svc/cli', import.meta.dirname) ?? import.meta.dirname;

/** The folder of the checkout; undefined when svc is installed as a package. */
export function checkoutFolder(): string | undefined {
  const above = dirname(packageFolder);
  return nameIn(join(above, 'package.json')) === 'svc' ? above : undefined;
}

/** The pages of docs/errors; a package carries a copy of them. */
export function errorPagesFolder(): string {
  return join(checkoutFolder() ?? packageFolder, 'docs', 'errors');
}

/** What `svc new` copies. */
export function templateFolder(): string {
  return join(packageFolder, 'template');
}
