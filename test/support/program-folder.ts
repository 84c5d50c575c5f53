// A folder in which a program that embeds svc can run: its files, and the packages of the checkout.
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

/** `files`: texts by their paths in the folder. */
export function fillProgramFolder(folder: string, files: Readonly<Record<string, string>>): void {
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  for (const [path, text] of Object.entries({ 'package.json': '{"type":"module"}', ...files })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

/** Copies the sources of the example to `src` of the folder. */
export function copyFlagsProgram(folder: string): void {
  cpSync(join(root, 'examples/06-embedded/src'), join(folder, 'src'), { recursive: true });
}
