// OpenLocalOrchestrator: the orchestrator of this machine with all its parts, from its settings.
import { join } from 'node:path';
import type { Log } from '@svc/kit/log';
import { moduleCommand } from './launch-command.ts';
import { LocalOrchestrator } from './local-orchestrator.ts';
import { problemsHere } from './local-problems.ts';
import type { LocalSettings } from './local-settings.ts';
import { ModuleImages } from './module-images.ts';
import { NobodyRoutes } from './request-routes.ts';

/** `version`: of the installed runtime. Throws the file system's error if the folder cannot be used. */
export function openLocalOrchestrator(
  { folder, network, imageFolders, registries, section }: LocalSettings,
  version: string,
  log: Log,
): LocalOrchestrator {
  const dataFolder = join(folder, 'data');
  return new LocalOrchestrator({
    folder,
    section,
    network,
    images: new ModuleImages({
      folder: join(folder, 'modules'),
      imageFolders,
      registries,
      section,
    }),
    routes: new NobodyRoutes(),
    log,
    problemsOf: (descriptor) => problemsHere(descriptor, version),
    // Every service of this machine is made of components, and so has a journal.
    hasDataFolder: () => true,
    commandOf: (instance) => moduleCommand(instance, { dataFolder, drainMs: section.drainMs }),
  });
}
