// ModuleToPack: the module of a file or of a project, judged as before it runs, so that no image is made of a module that the runtime
// would refuse.
import { hash } from 'node:crypto';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { ModuleToPack } from '@svc/oci/module-image';
import { CommandFailure } from './command.ts';
import { compile } from './commands/build.ts';
import { findProject } from './dev/dev-project.ts';
import { version } from './version.ts';

/** A module to make an image of, and the name of its file or of its project. */
export interface NamedModule {
  readonly name: string;
  readonly packed: ModuleToPack;
}

/** Reads the module of a file, or compiles a project, and judges it. Rejects with CommandFailure. */
export async function moduleToPack(source: string): Promise<NamedModule> {
  const stats = await stat(source).catch(() => undefined);
  if (stats === undefined && !source.endsWith('.wasm'))
    throw new CommandFailure(
      'SVC_BUILD_FAILED',
      `There is nothing to build: there is no folder ${source}. Name the folder of a project, or the file of a module that is compiled already.`,
    );
  if (stats?.isDirectory() !== true)
    return { name: basename(source, '.wasm'), packed: await admittedFile(source) };
  const project = findProject(source);
  const { component } = await compile(project.entryFile, false, false);
  const folder = await mkdtemp(join(tmpdir(), 'svc-image-'));
  try {
    const file = join(folder, 'module.wasm');
    await writeFile(file, component);
    return { name: project.name, packed: await admittedFile(file) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function admittedFile(file: string): Promise<ModuleToPack> {
  const { inspectModuleFile } = await import('@svc/host/tools');
  const { refusal, descriptor, fingerprint } = await inspectModuleFile(file, [], {});
  if (refusal !== undefined) throw new CommandFailure(refusal.code, refusal.message);
  const module = await readFile(file);
  if (hash('sha256', module) !== fingerprint)
    throw new CommandFailure(
      'SVC_MODULE_UNREADABLE',
      `${file} was changed while the image was made. Run the command again when the file is complete.`,
    );
  return { module, protocol: descriptor!.protocol, runtime: version };
}
