// Assembles a guest of fixtures/ that is written in WAT: its files joined in the order of their names,
// its strings in UTF-8, its descriptor as it stands beside them.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type ModuleDescriptor, parseModuleDescriptor } from '@svc/contract';
import { component, withDescriptor } from '../host/hosting/wasm/support/guest-module.ts';

const FIXTURES = join(import.meta.dirname, '..', '..', 'fixtures');
const assembled = new Map<string, Promise<Uint8Array>>();

/** Whether `fixtures/<name>` is one of them. */
export function isWatFixture(name: string): boolean {
  return name.startsWith('wat-');
}

/** The component of `fixtures/<name>`, assembled once in a process. */
export async function compileWat(name: string): Promise<Uint8Array> {
  const known = assembled.get(name);
  if (known !== undefined) return known;
  const module = component(watOf(name), 'utf8').then((bytes) =>
    withDescriptor(bytes, descriptorOf(name)),
  );
  assembled.set(name, module);
  return module;
}

/** The module's whole text. */
export function watOf(name: string): string {
  const folder = join(FIXTURES, name);
  return readdirSync(folder)
    .filter((file) => file.endsWith('.wat'))
    .toSorted()
    .map((file) => readFileSync(join(folder, file), 'utf8'))
    .join('');
}

function descriptorOf(name: string): ModuleDescriptor {
  const read = parseModuleDescriptor(readFileSync(join(FIXTURES, name, 'descriptor.json'), 'utf8'));
  if (!read.ok) throw new Error(`the descriptor of ${name}: ${read.problems.join('; ')}`);
  return read.descriptor;
}
