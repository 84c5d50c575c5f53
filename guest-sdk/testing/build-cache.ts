// BuildCache: components that were compiled for earlier tests, in `node_modules/.cache/svc` of the project.
//
// Invariants:
// - I1 An entry is used only if every file that its build has read is unchanged, every file that it has looked for is
//   still missing, and SDK, compiler, contract and Node are the same. A damaged entry is ignored.
// - I2 An entry is written under a temporary name and renamed, so that a process that reads it meanwhile sees a
//   complete entry.
// - I3 The folder has at most `BYTES_MAX` bytes; the entries that were used longest ago are removed first.
// - I4 The cache never causes a failure: if it cannot be read or written, the sources are compiled.
import { createHash, hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildComponent, hashOfInput, type BuildInput } from '../compiler/index.ts';
import { withNotice } from './compile-notice.ts';

/** Maximum size of the folder: 64 MiB, some hundred components. */
const BYTES_MAX = 64 * 1024 * 1024;
const ENDING = '.build';

interface EntryHead {
  /** Hash of SDK, compiler, contract and Node version. */
  readonly tools: string;
  /** Hash of the component's bytes. */
  readonly component: string;
  readonly inputs: readonly BuildInput[];
}

const building = new Map<string, Promise<Uint8Array>>();

/** Returns the component of an AssemblyScript file. Throws BuildError. */
export async function cachedComponent(entryFile: string): Promise<Uint8Array> {
  const file = resolve(entryFile);
  const running = building.get(file);
  if (running !== undefined) return running;
  const started = cachedOrBuilt(file).finally(() => building.delete(file));
  building.set(file, started);
  return started;
}

async function cachedOrBuilt(file: string): Promise<Uint8Array> {
  const folder = cacheFolder(file);
  const build = () => withNotice(file, () => buildComponent({ entryFile: file }));
  if (folder === undefined) return (await build()).component;
  const entry = join(folder, `${hash('sha256', file).slice(0, 32)}${ENDING}`);
  const tools = await (hashOfTools ??= toolsHash());
  const cached = await readEntry(entry, tools);
  if (cached !== undefined) return cached;
  const { component, inputs } = await build();
  await writeEntry(entry, component, { tools, component: hash('sha256', component), inputs });
  return component;
}

/** Returns the cache's folder in the nearest `node_modules` above the file; undefined if there is none. */
function cacheFolder(file: string): string | undefined {
  for (let at = dirname(file); dirname(at) !== at; at = dirname(at)) {
    const modules = join(at, 'node_modules');
    if (existsSync(modules)) return join(modules, '.cache', 'svc');
  }
  return undefined;
}

async function readEntry(entry: string, tools: string): Promise<Uint8Array | undefined> {
  try {
    const bytes = await readFile(entry);
    const end = bytes.indexOf('\n');
    const head = JSON.parse(bytes.toString('utf8', 0, end)) as EntryHead;
    const component = new Uint8Array(bytes.subarray(end + 1));
    if (head.tools !== tools || head.component !== hash('sha256', component)) return undefined;
    const same = await Promise.all(
      head.inputs.map(async (input) => (await hashOfInput(input.file)) === input.hash),
    );
    if (!same.every(Boolean)) return undefined;
    const now = new Date();
    await utimes(entry, now, now);
    return component;
  } catch {
    return undefined;
  }
}

async function writeEntry(entry: string, component: Uint8Array, head: EntryHead): Promise<void> {
  const beside = `${entry}.${crypto.randomUUID()}`;
  try {
    await mkdir(dirname(entry), { recursive: true });
    await writeFile(beside, Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), component]));
    await rename(beside, entry);
    await removeOldest(dirname(entry));
  } catch {
    await rm(beside, { force: true }).catch(() => undefined);
  }
}

async function removeOldest(folder: string): Promise<void> {
  const files = await Promise.all(
    (await readdir(folder)).map(async (name) => {
      const file = join(folder, name);
      const { size, mtimeMs } = await stat(file);
      return { file, size, mtimeMs };
    }),
  );
  let bytes = 0;
  for (const { file, size } of files.toSorted((a, b) => b.mtimeMs - a.mtimeMs)) {
    bytes += size;
    if (bytes > BYTES_MAX) await rm(file, { force: true });
  }
}

let hashOfTools: Promise<string> | undefined;

/**
 * Returns a hash of the Node version and of the files of SDK and contract. The SDK's package.json has the exact
 * versions of the compilers.
 */
async function toolsHash(): Promise<string> {
  const own = fileURLToPath(new URL('../', import.meta.url));
  const contract = dirname(createRequire(import.meta.url).resolve('@svc/contract'));
  const sums = createHash('sha256').update(process.version);
  for (const path of [
    join(own, 'package.json'),
    join(own, 'assembly'),
    join(own, 'compiler'),
    contract,
  ])
    for (const file of await filesIn(path)) sums.update(`${file}\0`).update(await readFile(file));
  return sums.digest('hex');
}

async function filesIn(path: string): Promise<string[]> {
  if (!(await stat(path)).isDirectory()) return [path];
  const entries = await readdir(path, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(path, entry.name))
    .toSorted();
}
