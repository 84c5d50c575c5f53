// OpenLocalOrchestrator: the orchestrator of this machine with all its parts, from its settings.
import { join } from 'node:path';
import type { Log } from '@svc/kit/log';
import type { Orchestrator } from '../orchestration/orchestrator.ts';
import { moduleCommand } from './launch-command.ts';
import { LocalOrchestrator } from './local-orchestrator.ts';
import { problemsHere } from './local-problems.ts';
import type { LocalSettings } from './local-settings.ts';
import { ModuleImages } from './module-images.ts';
import { PublishedRoutes } from './published-routes.ts';
import { ServiceRecords } from './service-record.ts';

/** Trust domain of the identities of an installation without a base domain. */
const TRUST_DOMAIN_DEFAULT = 'svc.localhost';

export interface Installed {
  /** Version of the installed runtime. */
  readonly version: string;
  /** With its port, if it has one; undefined: no hostname is derived. */
  readonly baseDomain: string | undefined;
}

export interface OpenedOrchestrator extends AsyncDisposable {
  readonly orchestrator: Orchestrator;
}

/**
 * Rejects with SVC_MACHINE_IN_USE if another control plane runs the services of the folder, and with the system's error if the folder or
 * the socket of routes cannot be used.
 */
export async function openLocalOrchestrator(
  settings: LocalSettings,
  { version, baseDomain }: Installed,
  log: Log,
): Promise<OpenedOrchestrator> {
  const { folder, network, imageFolders, registries, section } = settings;
  const dataFolder = join(folder, 'data');
  const records = new ServiceRecords(join(folder, 'services')).readAll();
  const routes = await PublishedRoutes.open({
    socket: settings.routesSocket,
    file: settings.routesFile,
    trustDomain: baseDomain?.split(':')[0] ?? TRUST_DOMAIN_DEFAULT,
    section,
    known: new Set(records.map(({ desired: { key } }) => `${key.project}/${key.service}`)),
    log,
  });
  // Each service has its route before this returns, except for one that cannot be looked at.
  const orchestrator = new LocalOrchestrator({
    folder,
    section,
    network,
    images: new ModuleImages({
      folder: join(folder, 'modules'),
      imageFolders,
      registries,
      section,
    }),
    routes,
    log,
    problemsOf: (descriptor) => problemsHere(descriptor, version),
    // Every service of this machine is made of components, and so has a journal.
    hasDataFolder: () => true,
    commandOf: (instance) => moduleCommand(instance, { dataFolder, drainMs: section.drainMs }),
  });
  const dispose = async (): Promise<void> => {
    await orchestrator[Symbol.asyncDispose]();
    await routes[Symbol.asyncDispose]();
  };
  try {
    await routes.listen();
  } catch (error) {
    await dispose();
    throw error;
  }
  return { orchestrator, [Symbol.asyncDispose]: dispose };
}
