// Compiles a guest under fixtures/ or examples/ once: what it gave is kept in build/ under a hash of
// everything that it depends on (its sources, the SDK, the compiler, the contract).
import { createHash } from 'node:crypto';
import { mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildComponent } from '../../guest-sdk/compiler/index.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CACHE = join(ROOT, 'build', 'fixtures');
const INPUTS = ['guest-sdk', 'contract', 'wit', 'package-lock.json'];

/** The component of `fixtures/<name>/assembly/index.ts`. */
export async function compileFixture(name: string): Promise<Uint8Array> {
  return readFile(await built(join('fixtures', name), 'component'));
}

/** The component of `examples/<name>/assembly/index.ts`. */
export async function compileExample(name: string): Promise<Uint8Array> {
  return readFile(await built(join('examples', name), 'component'));
}

/** The core module inside of the component. */
export async function compileFixtureCore(name: string): Promise<Uint8Array> {
  return readFile(await built(join('fixtures', name), 'core'));
}

/** Sources of a fixture: path within its `assembly` folder → text. */
export type Sources = ReadonlyMap<string, string>;

export async function sourcesOf(name: string): Promise<Sources> {
  const folder = join(ROOT, 'fixtures', name, 'assembly');
  const files = await filesUnder(folder);
  return new Map(
    await Promise.all(
      files.map(async (file) => [relative(folder, file), await readFile(file, 'utf8')] as const),
    ),
  );
}

/** The component of a fixture's sources that were changed, not optimized: of many, that would take minutes. */
export async function compileSources(name: string, sources: Sources): Promise<Uint8Array> {
  const hash = createHash('sha256').update(await (hashOfInputs ??= hashOf(INPUTS)));
  for (const [file, text] of sources) hash.update(`${file}\0${text}\0`);
  const key = `${name}-${hash.digest('hex').slice(0, 20)}`;
  const wanted = join(CACHE, `${key}.changed.wasm`);
  if (await exists(wanted)) return readFile(wanted);
  const folder = join(CACHE, `${key}.${process.pid}`);
  try {
    for (const [file, text] of sources) {
      await mkdir(join(folder, dirname(file)), { recursive: true });
      await writeFile(join(folder, file), text);
    }
    const entryFile = join(folder, 'index.ts');
    const { component } = await buildComponent({ entryFile, optimizeLevel: 0 });
    await writeWhole(wanted, component);
    return component;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

let hashOfInputs: Promise<string> | undefined;

async function built(guest: string, kind: 'component' | 'core'): Promise<string> {
  const folder = join(guest, 'assembly');
  const hash = await hashOf([folder, ...INPUTS]);
  const file = (which: string): string => join(CACHE, `${basename(guest)}-${hash}.${which}.wasm`);
  const wanted = file(kind);
  if (await exists(wanted)) return wanted;
  const { component, core } = await buildComponent({ entryFile: join(ROOT, folder, 'index.ts') });
  await mkdir(CACHE, { recursive: true });
  await writeWhole(file('component'), component);
  await writeWhole(file('core'), core);
  return wanted;
}

async function exists(file: string): Promise<boolean> {
  return readFile(file).then(
    () => true,
    () => false,
  );
}

/** Two test files may compile the same fixture: whoever reads the name reads a whole file. */
async function writeWhole(file: string, bytes: Uint8Array): Promise<void> {
  const partial = `${file}.${process.pid}`;
  await writeFile(partial, bytes);
  await rename(partial, file);
}

async function hashOf(inputs: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const input of inputs)
    for (const file of await filesUnder(join(ROOT, input)))
      hash
        .update(`${relative(ROOT, file)}\0`)
        .update(await readFile(file))
        .update('\0');
  return hash.digest('hex').slice(0, 20);
}

async function filesUnder(path: string): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => undefined);
  if (entries === undefined) return [path];
  const files: string[] = [];
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1)))
    if (entry.name !== 'node_modules') files.push(...(await filesUnder(join(path, entry.name))));
  return files;
}
