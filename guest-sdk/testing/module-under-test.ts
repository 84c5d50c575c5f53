// ModuleUnderTest: a compiled or loaded module that the host has admitted, with the same checks as for a service. Each
// test starts its own instances of the module.
import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, isAbsolute, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { EntityDescriptor, ModuleDescriptor } from '@svc/contract';
import {
  type Guest,
  type GuestLogLine,
  type GuestSource,
  PurityVerification,
  WASM_LIMITS_DEFAULT,
  admitModule,
  guestStarter,
  type GuestStarter,
  verifiedStarter,
  wasmSource,
} from '@svc/host/tools';
import { expect } from 'vitest';
import { cachedComponent } from './build-cache.ts';
import { whatThereIs } from './mistyped-name.ts';
import { type StackStart, TestFailure, restacked } from './test-failure.ts';

const SETTINGS = { wasm: WASM_LIMITS_DEFAULT };

export class ModuleUnderTest {
  /** The module's description of itself: its entities, endpoints and types. */
  readonly descriptor: ModuleDescriptor;
  /** Name of the module in messages. */
  readonly name: string;
  /** Folder of the module's sources, relative to the working folder; paths in its abort messages are relative to it. */
  readonly folder: string;
  readonly #start: GuestStarter;
  readonly #startVerified: GuestStarter;

  private constructor(
    { descriptor }: GuestSource,
    named: { readonly name: string; readonly folder: string },
    starters: { readonly start: GuestStarter; readonly startVerified: GuestStarter },
  ) {
    this.descriptor = descriptor;
    this.name = named.name;
    this.folder = named.folder;
    this.#start = starters.start;
    this.#startVerified = starters.startVerified;
  }

  /** Admits a module. Rejects with an SvcError SVC_MODULE_… if the host would not run it. */
  static async of(bytes: Uint8Array, name: string, folder: string): Promise<ModuleUnderTest> {
    const source = wasmSource(admitModule(bytes));
    const start = await guestStarter(source, SETTINGS);
    const startVerified = await verifiedStarter(source, SETTINGS);
    return new ModuleUnderTest(source, { name, folder }, { start, startVerified });
  }

  /** Starts a guest that shares no instance with other guests. */
  start(log: (line: GuestLogLine) => void = () => {}): Guest {
    return this.#start(log);
  }

  /**
   * Creates a check that compares an entity's state with its events. `log`: receives the module's log lines during the
   * check.
   */
  purity(log: (line: GuestLogLine) => void): PurityVerification {
    return new PurityVerification(this.#startVerified, log);
  }

  /** Returns the component with this id. An unknown id fails the test. */
  component(id: string, stackStart: StackStart): EntityDescriptor {
    const { entities } = this.descriptor;
    const found = entities.find(({ component }) => component === id);
    if (found !== undefined) return found;
    const ids = entities.map(({ component }) => component);
    throw new TestFailure(
      `${this.name} has no component '${id}'.${whatThereIs(id, ids)}`,
      stackStart,
    );
  }
}

/** Fails for a value that is not a module, since nothing checks the types of a test before it runs. */
export function expectModule(
  module: unknown,
  stackStart: StackStart,
): asserts module is ModuleUnderTest {
  if (module instanceof ModuleUnderTest) return;
  const what =
    module instanceof Promise ? 'The module is still being made' : 'This is not a module';
  throw new TestFailure(
    `${what}: write \`const module = await testModule('…');\`, and give it to ${stackStart.name}.`,
    stackStart,
  );
}

/**
 * Loads the module to test: an AssemblyScript file, which is compiled again only after its files have changed
 * (build-cache.ts), a compiled component (`.wasm`), or its bytes. A relative path is searched for in the folder of
 * the test file, in each folder above it, and in the working folder. Rejects with a TestFailure if there is no
 * file, with a BuildError if the file does not compile, and with an SvcError SVC_MODULE_… if the host would not run the
 * module. An absolute path of a missing `.wasm` file gives Node's error.
 */
export async function testModule(source: string | URL | Uint8Array): Promise<ModuleUnderTest> {
  if (source instanceof Uint8Array) return ModuleUnderTest.of(source, 'the module', '');
  const file = find(source instanceof URL ? fileURLToPath(source) : source, testModule);
  const name = relative(process.cwd(), file);
  const site = new TestFailure('', testModule);
  try {
    const bytes = file.endsWith('.wasm') ? await readFile(file) : await cachedComponent(file);
    return await ModuleUnderTest.of(bytes, name, dirname(name));
  } catch (error) {
    throw error instanceof Error ? restacked(error, site) : error;
  }
}

function find(path: string, stackStart: StackStart): string {
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
    stackStart,
  );
}
