// The packages as they are published: five tarballs with JavaScript and declarations.
// Usage: node scripts/with-node.mjs scripts/pack.ts --out DIR [--folders] [PACKAGE ...]
//   --folders   one folder for each package, with what runs and nothing else; asks for no other package,
//               so that an image is built with Node alone
// PACKAGE is contract, host, guest-sdk, console or cli; all of them unless some are named.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { layOut, PACKAGES, type PublishedPackage } from './published-package.ts';

const root = join(import.meta.dirname, '..');

function run(command: string, args: readonly string[], cwd: string): void {
  const { status, error } = spawnSync(command, args, { cwd, stdio: ['ignore', 2, 2] });
  if (status !== 0)
    throw new Error(`${command} ${args.join(' ')} failed in ${cwd}`, { cause: error });
}

function declare(folder: string): string {
  const compiler = join(root, 'node_modules', '.bin', 'tsc');
  run(compiler, ['--project', 'tsconfig.build.json', '--outDir', folder], root);
  return folder;
}

/** In a folder of this run alone, so that several may pack at once. */
async function packInto(out: string, wanted: readonly PublishedPackage[]): Promise<void> {
  mkdirSync(join(root, 'build'), { recursive: true });
  const work = mkdtempSync(join(root, 'build', 'pack-'));
  try {
    const declarations = declare(join(work, 'declarations'));
    const page = join(work, 'page');
    const { buildConsolePage } = await import('./console-page.ts');
    await buildConsolePage(page);
    for (const published of wanted) {
      const target = join(work, published.folder);
      layOut(published, { root, declarations, page }, target);
      run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', out], target);
    }
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

const { values, positionals } = parseArgs({
  options: { out: { type: 'string' }, folders: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const unknown = positionals.filter((name) => !PACKAGES.some(({ folder }) => folder === name));
if (values.out === undefined || unknown.length > 0)
  throw new Error(
    `pack takes --out DIR and of ${PACKAGES.map(({ folder }) => folder).join(', ')} those to pack`,
  );
const out = resolve(values.out);
const wanted = PACKAGES.filter(
  ({ folder }) => positionals.length === 0 || positionals.includes(folder),
);
mkdirSync(out, { recursive: true });
if (values.folders)
  for (const published of wanted)
    layOut(
      published,
      { root, declarations: undefined, page: undefined },
      join(out, published.folder),
    );
else await packInto(out, wanted);
