// The compiler's one door: from a user's AssemblyScript file to a component.
import { readFile } from 'node:fs/promises';
import type { ModuleDescriptor } from '@svc/contract';
import { BuildError, type Problem } from './build-error.ts';
import { componentOf } from './component.ts';
import { compileCoreModule } from './core-module.ts';

export { BuildError, problemText, type Problem } from './build-error.ts';

export interface BuildOptions {
  /** The file that registers the components; it may lie anywhere. */
  readonly entryFile: string;
}

export interface BuiltComponent {
  readonly component: Uint8Array;
  /** The core module inside of it. */
  readonly core: Uint8Array;
  readonly descriptor: ModuleDescriptor;
  /** What the compiler remarked without failing. */
  readonly warnings: readonly Problem[];
}

/** The same files give the same bytes. Throws BuildError, whose message is readable as it is. */
export async function buildComponent(options: BuildOptions): Promise<BuiltComponent> {
  if (!options.entryFile.endsWith('.ts'))
    throw new BuildError([
      { message: `'${options.entryFile}' is not an AssemblyScript file: its name must end in .ts` },
    ]);
  const manifest = JSON.parse(
    await readFile(new URL('../package.json', import.meta.url), 'utf8'),
  ) as { readonly name: string; readonly version: string };
  const sdk = { name: manifest.name, version: manifest.version };
  const { core, descriptor, warnings } = await compileCoreModule(options.entryFile, sdk);
  return { component: await componentOf(core, descriptor), core, descriptor, warnings };
}
