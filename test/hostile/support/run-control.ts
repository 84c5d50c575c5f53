// Runs a positive control under jco's transpiler and preview2-shim with their defaults, and says to its parent
// what it got. A program of its own, started as a child process, for our own controls only.
// Usage: node run-control.ts COMPONENT.wasm OUTPUT-FOLDER JSON
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { transpile } from '@bytecodealliance/jco';

/** What a control is asked for: its exports by name, with their parameters. */
interface Orders {
  readonly preopen?: string;
  readonly calls: readonly (readonly [name: string, ...parameters: (number | string)[]])[];
}

const [componentFile, folder, ordersText] = process.argv.slice(2) as [string, string, string];
const { preopen, calls } = JSON.parse(ordersText) as Orders;
const SHIM = '@bytecodealliance/preview2-shim';

/** What the transpiled component imports is the shim that comes with the transpiler. */
const shimFolder = dirname(findPackageJSON(SHIM, import.meta.resolve('@bytecodealliance/jco'))!);
const shimLink = join(folder, 'node_modules', SHIM);
mkdirSync(dirname(shimLink), { recursive: true });
symlinkSync(shimFolder, shimLink, 'dir');
if (preopen !== undefined) {
  // From there, so that it is the one that the component gets.
  const entry = join(folder, 'filesystem.js');
  writeFileSync(entry, `export * from '${SHIM}/filesystem';`);
  const filesystem = (await import(pathToFileURL(entry).href)) as {
    _clearPreopens: () => void;
    _addPreopen: (path: string, folder: string) => void;
  };
  filesystem._clearPreopens();
  filesystem._addPreopen('/', preopen);
}
const { files } = await transpile(readFileSync(componentFile), { name: 'control' });
for (const [name, content] of Object.entries(files as Readonly<Record<string, Uint8Array>>)) {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), content);
}
type Exports = Readonly<Record<string, (...parameters: readonly unknown[]) => unknown>>;
const control = (await import(pathToFileURL(join(folder, 'control.js')).href)) as Exports;

/** Bytes and large integers, in a form that a message may have. */
function told(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString();
  return Array.isArray(value) ? value.map(told) : value;
}

const answers: Record<string, unknown> = {};
for (const [name, ...parameters] of calls)
  try {
    answers[name] = told(control[name]!(...parameters));
  } catch (error) {
    answers[name] = { error: String(error) };
  }
// Only once the answers are on their way: the shim keeps a thread that would keep the process.
process.send!(answers, () => process.exit());
