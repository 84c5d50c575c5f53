// TypeScriptCart: the shopping cart in TypeScript as the image of a service of hosting `process`, and the routes for members. Linux only.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildNodeImage } from '../node-image.ts';
import { archiveOfPackages, installPackages } from '../packed-packages.ts';

const CART = new URL('../../components/support/cart.ts', import.meta.url);
const PACKAGES = ['process-sdk/typescript'];
const MEMBERS = new URL('../../process-sdk/typescript/support/members-program.ts', import.meta.url);
/** What the programs import from the workspace. */
const SDK_IMPORT = /'(?:\.\.\/)+process-sdk\/typescript\/index\.ts'/;
/** What the cart imports from the workspace, and what follows its definitions. */
const OWN_IMPORT = /'(?:\.\.\/)+components\/[\w-]+\.ts'/g;
const OTHER_GUEST = /^import \{ createEmbeddedGuest \}.*$|^\/\*\* `version`[^]*/gm;

/** Makes the packages that the cart imports. Returns an archive of them. */
export function archiveOfSdk(folder: string): string {
  return archiveOfPackages(folder, PACKAGES);
}

/** Makes the packages that the cart imports in the `node_modules` of a folder. */
export function installSdk(folder: string): void {
  installPackages(folder, PACKAGES);
}

/** Returns the source of the cart as a program of a user has it, which imports the package. */
export function cartSource(): string {
  return readFileSync(CART, 'utf8')
    .replaceAll(OTHER_GUEST, '')
    .replaceAll(OWN_IMPORT, "'@svc/process'");
}

/** Writes the image of the members with probes, with the tag 1, as an OCI layout into the folder. */
export function writeTypeScriptMembers(folder: string, archive: string): void {
  const members = readFileSync(MEMBERS, 'utf8')
    .replace(SDK_IMPORT, "'@svc/process'")
    .replace('endpoints: [', 'endpoints: [probes, ');
  buildNodeImage(
    folder,
    {
      '/app/package.json': '{"type": "module"}',
      '/app/main.ts': `import { probes } from './probes.ts';\n${members}`,
      '/app/probes.ts': readFileSync(join(import.meta.dirname, 'probes.ts'), 'utf8'),
    },
    { cmd: ['/app/main.ts'], user: 'node', tag: '1', archives: [archive] },
  );
}

export interface CartImage {
  /** Changes the source of the cart. */
  readonly change?: ((source: string) => string) | undefined;
  /** Variables of the image. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Writes the image, with the tag 1, as an OCI layout into the folder. */
export function writeTypeScriptCart(
  folder: string,
  archive: string,
  { change = (source) => source, env = {} }: CartImage = {},
): void {
  const own = ['main.ts', 'probes.ts'].map((name): [string, string] => [
    `/app/${name}`,
    readFileSync(join(import.meta.dirname, name), 'utf8'),
  ]);
  buildNodeImage(
    folder,
    {
      '/app/package.json': '{"type": "module"}',
      '/app/cart.ts': change(cartSource()),
      ...Object.fromEntries(own),
    },
    {
      cmd: ['/app/main.ts'],
      env: { FROM_IMAGE: 'image', ...env },
      user: 'node',
      tag: '1',
      archives: [archive],
    },
  );
}
