// ModuleUnderTest: a module that was compiled or read, admitted by the host as it would be for
// running, and from which each test starts instances of its own.
import { statSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { EntityDescriptor, ModuleDescriptor } from '@svc/contract';
import {
  type AdmittedModule,
  type Guest,
  type GuestLogLine,
  PurityVerification,
  WASM_LIMITS_DEFAULT,
  admitModule,
  startWasmGuest,
} from '@svc/host/tools';
import { expect } from 'vitest';
import { buildComponent } from '../compiler/index.ts';
import { whatThereIs } from './mistyped-name.ts';
import { type Door, TestFailure, restacked } from './test-failure.ts';

export class ModuleUnderTest {
  /** What the module says of itself: its entities, endpoints and types. */
  readonly descriptor: ModuleDescriptor;
  /** For messages. */
  readonly name: string;
  /** Relative to the working folder: what the places in a module's last words are relative to. */
  readonly folder: string;
  readonly #admitted: AdmittedModule;

  constructor(bytes: Uint8Array, name: string, folder: string) {
    this.#admitted = admitModule(bytes);
    this.descriptor = this.#admitted.descriptor;
    this.name = name;
    this.folder = folder;
  }

  /** A guest that shares no instance with another. */
  start(log: (line: GuestLogLine) => void = () => {}): Guest {
    return startWasmGuest(this.#admitted, WASM_LIMITS_DEFAULT, log);
  }

  /** Compares an entity's state with what its events make. `log`: of the module, while it folds. */
  purity(log: (line: GuestLogLine) => void): PurityVerification {
    return PurityVerification.of(this.#admitted, WASM_LIMITS_DEFAULT, log);
  }

  /** The component of that id. A wrong id fails the test. */
  component(id: string, door: Door): EntityDescriptor {
    const { entities } = this.descriptor;
    const found = entities.find(({ component }) => component === id);
    if (found !== undefined) return found;
    const ids = entities.map(({ component }) => component);
    throw new TestFailure(`${this.name} has no component '${id}'.${whatThereIs(id, ids)}`, door);
  }
}

/** Fails for what is no module: nothing checks the types of a test before it runs. */
export function expectModule(module: unknown, door: Door): asserts module is ModuleUnderTest {
  if (module instanceof ModuleUnderTest) return;
  const what = module instanceof Promise ? 'is still being made' : 'is none';
  throw new TestFailure(
    `The module ${what}: write \`const module = await testModule('…');\`, and give it to ${door.name}.`,
    door,
  );
}

/** Path and state of the sources → what they compile to. */
const builds = new Map<string, Promise<Uint8Array>>();

/**
 * The module to test: an AssemblyScript file, which is compiled (once for each state of the files
 * around it), a compiled one (`.wasm`), or its bytes. A relative path is looked for in the folder of
 * the test file, in each folder above it, and in the working folder. Rejects with a BuildError when
 * it does not compile, an SvcError SVC_MODULE_… when the host would not run it.
 */
export async function testModule(source: string | URL | Uint8Array): Promise<ModuleUnderTest> {
  if (source instanceof Uint8Array) return new ModuleUnderTest(source, 'the module', '');
  const file = find(source instanceof URL ? fileURLToPath(source) : source, testModule);
  const name = relative(process.cwd(), file);
  const site = new TestFailure('', testModule);
  try {
    const bytes = file.endsWith('.wasm') ? await readFile(file) : await compiled(file);
    return new ModuleUnderTest(bytes, name, dirname(name));
  } catch (error) {
    throw error instanceof Error ? restacked(error, site) : error;
  }
}

function find(path: string, door: Door): string {
  if (isAbsolute(path)) return path;
  const { testPath } = expect.getState();
  const folders = [process.cwd()];
  for (let at = testPath; at !== undefined && dirname(at) !== at; at = dirname(at))
    folders.splice(-1, 0, dirname(at));
  const file = folders
    .map((folder) => resolve(folder, path))
    .find((candidate) => statSync(candidate, { throwIfNoEntry: false })?.isFile());
  if (file !== undefined) return file;
  throw new TestFailure(
    `There is no file '${path}' in ${folders[0]}, nor in a folder above it. ` +
      'Name the file that registers your components.',
    door,
  );
}

async function compiled(file: string): Promise<Uint8Array> {
  const key = `${file} ${await newestChange(dirname(file))}`;
  let build = builds.get(key);
  if (build === undefined) {
    build = buildComponent({ entryFile: file }).then(({ component }) => component);
    builds.set(key, build);
  }
  return build;
}

/** When a source in the folder was last changed: a watching runner may live longer than a build. */
async function newestChange(folder: string): Promise<number> {
  const files = await readdir(folder, { recursive: true });
  const times = files
    .filter((name) => name.endsWith('.ts') && !name.includes('node_modules'))
    .map((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0);
  return Math.max(0, ...times);
}
