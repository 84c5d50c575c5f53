// Makes the published packages: a tarball with JavaScript for each workspace that is not private, and the wheel of the SDK for Python.
// Packages that programs import also contain declarations.
//
// Usage: node scripts/with-node.mjs scripts/pack.ts --out DIR [--folders] [PACKAGE ...]
// - --folders: makes a folder for each package instead of a tarball, without declarations and without the console's
//   page. This mode uses no installed package, so that an image is built with Node alone.
// - PACKAGE: folder of a workspace, or of the SDK for Python; without it, all of them.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { packWheel, PYTHON_SDK } from './python-wheel.ts';
import { layOut, publishedPackages, type PublishedPackage } from './published-package.ts';

const root = join(import.meta.dirname, '..');

function run(command: string, args: readonly string[], cwd: string): void {
  const { status, error } = spawnSync(command, args, { cwd, stdio: ['ignore', 2, 2] });
  if (status !== 0)
    throw new Error(`${command} ${args.join(' ')} failed in ${cwd}`, { cause: error });
}

/**
 * Writes the declarations of the packages that programs import. Returns the folder of the declarations, which does not
 * exist if no program imports one of the packages.
 */
function declare(work: string, wanted: readonly PublishedPackage[]): string {
  const imported = wanted.filter(({ isCommand }) => !isCommand);
  const compiler = join(root, 'node_modules', '.bin', 'tsc');
  const project = join(work, 'tsconfig.json');
  const outDir = join(work, 'declarations');
  const inside = (folder: string, paths: readonly string[]) =>
    paths.map((path) => join(root, folder, path));
  if (imported.length === 0) return outDir;
  writeFileSync(
    project,
    JSON.stringify({
      extends: join(root, 'tsconfig.json'),
      compilerOptions: {
        noEmit: false,
        declaration: true,
        emitDeclarationOnly: true,
        rootDir: root,
        outDir,
        typeRoots: [join(root, 'node_modules', '@types')],
      },
      include: imported.flatMap(({ folder }) => inside(folder, ['**/*.ts'])),
      exclude: imported.flatMap(({ folder, asItIs, sources }) =>
        inside(folder, [...asItIs, ...sources, 'node_modules']),
      ),
    }),
  );
  run(compiler, ['--project', project], root);
  return outDir;
}

/** Packs the packages. Uses a temporary folder of its own, so that several runs may pack at the same time. */
async function packInto(out: string, wanted: readonly PublishedPackage[]): Promise<void> {
  mkdirSync(join(root, 'build'), { recursive: true });
  const work = mkdtempSync(join(root, 'build', 'pack-'));
  try {
    const declarations = declare(work, wanted);
    const page = join(work, 'page');
    const { buildConsolePage } = await import('./console-page.ts');
    await buildConsolePage(page);
    for (const published of wanted)
      layOut(published, { root, declarations, page }, join(work, published.folder));
    // All of them in one call, because npm takes longer to start than to pack.
    const folders = wanted.map(({ folder }) => `./${folder}`);
    run(
      'npm',
      ['pack', '--silent', '--ignore-scripts', '--pack-destination', out, ...folders],
      work,
    );
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Makes the wheel in a temporary folder of its own. */
function wheelInto(out: string): void {
  mkdirSync(join(root, 'build'), { recursive: true });
  const work = mkdtempSync(join(root, 'build', 'wheel-'));
  try {
    packWheel(root, work, out);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

const { values, positionals } = parseArgs({
  options: { out: { type: 'string' }, folders: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const packages = publishedPackages(root);
const known = [...packages.map(({ folder }) => folder), PYTHON_SDK];
const unknown = positionals.filter((name) => !known.includes(name));
if (values.out === undefined || unknown.length > 0)
  throw new Error(`pack takes --out DIR and of ${known.join(', ')} those to pack`);
const out = resolve(values.out);
const isWanted = (folder: string) => positionals.length === 0 || positionals.includes(folder);
const wanted = packages.filter(({ folder }) => isWanted(folder));
mkdirSync(out, { recursive: true });
if (values.folders)
  for (const published of wanted)
    layOut(
      published,
      { root, declarations: undefined, page: undefined },
      join(out, published.name),
    );
else {
  if (wanted.length > 0) await packInto(out, wanted);
  if (isWanted(PYTHON_SDK)) wheelInto(out);
}
