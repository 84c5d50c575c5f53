// OpenLocalOrchestrator: the orchestrator of this machine with all its parts, from its settings.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Log } from '@svc/kit/log';
import { SYSTEM_CLOCK } from '@svc/kit/clock';
import { KeyRelay, type RelayedProvider } from '@svc/tokens/key-relay';
import type { Orchestrator } from '../orchestration/orchestrator.ts';
import { MachineCertificates } from '../authorities/machine-certificates.ts';
import { AddressedRoutes } from './addressed-routes.ts';
import { InstanceCommands } from './instance-commands.ts';
import { ImageRoots } from './image-roots.ts';
import { InstanceCgroups } from './instance-cgroups.ts';
import { InstanceFolder } from './instance-folder.ts';
import { makeSocketsFolder } from './instance-sockets.ts';
import { LocalOrchestrator } from './local-orchestrator.ts';
import { journalProblems, problemsHere, type Runnable } from './local-problems.ts';
import type { LocalSettings } from './local-settings.ts';
import { MachineLock } from './machine-lock.ts';
import { ModuleImages } from './module-images.ts';
import { PublishedRoutes } from './published-routes.ts';
import { findSandboxSupport } from './sandbox/sandbox-support.ts';
import { makeSecretsFolder } from './secrets-folder.ts';
import { ServiceDatabases } from './service-databases.ts';
import { ServiceImages } from './service-images.ts';
import {
  type Provider,
  serviceTokens,
  warnOfSharedAudience,
} from '../orchestration/service-tokens.ts';
import { ServiceRecords } from './service-record.ts';

/** Trust domain of the identities of an installation without a base domain. */
const TRUST_DOMAIN_DEFAULT = 'svc.localhost';

export interface Installed {
  /** Version of the installed runtime. */
  readonly version: string;
  /** With its port, if it has one; undefined: no hostname is derived. */
  readonly baseDomain: string | undefined;
  readonly provider: Provider;
}

export interface OpenedOrchestrator extends AsyncDisposable {
  readonly orchestrator: Orchestrator;
}

/**
 * Rejects with SVC_MACHINE_IN_USE if another control plane runs the services of the folder, with SVC_AUTHORITY_LOST and SVC_AUTHORITY_UNUSABLE, and
 * with the system's error if the folder or the socket of routes cannot be used.
 */
export async function openLocalOrchestrator(
  settings: LocalSettings,
  installed: Installed,
  log: Log,
): Promise<OpenedOrchestrator> {
  // Everything that is made in the folder is made by the process that has it.
  const lock = new MachineLock(settings.folder);
  const finding = findSandboxSupport(settings.outbound);
  const opened = new AsyncDisposableStack();
  opened.defer(() => lock[Symbol.dispose]());
  try {
    const domain = installed.baseDomain?.split(':')[0] ?? TRUST_DOMAIN_DEFAULT;
    const certificates = await certificatesOf(settings, domain, lock, log);
    if (certificates !== undefined) opened.defer(() => certificates.close());
    const records = new ServiceRecords(join(lock.folder, 'services')).readAll();
    const known = new Set(records.map(({ desired: { key } }) => `${key.project}/${key.service}`));
    const { routesSocket: socket, routesFile: file, section, rollout } = settings;
    const published = { socket, file, trustDomain: domain, section, known, log };
    const routes = opened.use(await PublishedRoutes.open(published));
    const servicesFolder = join(lock.folder, 'addresses');
    const { network, secretsFolder } = settings;
    makeSecretsFolder(secretsFolder, log);
    const { provider } = installed;
    warnOfSharedAudience(provider, settings.serviceTokens, 'svc.local', log);
    const socketsFolder = makeSocketsFolder(lock.folder);
    const keysSocket = socketsFolder && join(lock.folder, 'keys.sock');
    if (keysSocket !== undefined) opened.use(await KeyRelay.listen(keysSocket, relayed(provider)));
    const databases = databasesOf(settings, lock, log);
    const commands = new InstanceCommands(
      {
        dataFolder: dataFolderIn(lock),
        databases,
        drainMs: rollout.drainMs,
        callers: certificates?.rules,
        servicesFolder,
        socketsFolder,
        secretsFolder,
        serviceTokens: serviceTokens(provider, settings.serviceTokens),
        keysSocket,
        baseDomain: installed.baseDomain,
      },
      await finding,
    );
    // Each service has its route before this returns, except for one that cannot be looked at.
    const orchestrator = opened.use(
      new LocalOrchestrator({
        lock,
        section,
        rollout,
        network,
        images: imagesOf(settings, lock),
        routes: new AddressedRoutes({ routes, folder: servicesFolder, known, log }),
        log,
        identities: certificates,
        cgroups: cgroupsOf(settings, lock, log),
        problemsOf: (key, descriptor, imageRuntime) => [
          ...problemsHere(descriptor, runnable(settings, installed, commands), imageRuntime),
          ...journalProblems(key, descriptor, databases),
        ],
        journals: databases,
        commandOf: (instance) => commands.of(instance),
      }),
    );
    // Nothing is written any more when the orchestrator gives the folder away.
    if (certificates !== undefined) opened.defer(() => certificates.close());
    await routes.listen();
    return { orchestrator, [Symbol.asyncDispose]: () => opened.disposeAsync() };
  } catch (error) {
    await opened.disposeAsync();
    throw error;
  }
}

function dataFolderIn({ folder }: MachineLock): string {
  return join(folder, 'data');
}

function imagesOf(
  { imageFolders, registries, section }: LocalSettings,
  { folder }: MachineLock,
): ServiceImages {
  const named = { imageFolders, registries, section };
  return new ServiceImages(
    new ModuleImages({ folder: join(folder, 'modules'), ...named }),
    new ImageRoots({ folder: join(folder, 'images'), ...named }),
  );
}

function databasesOf(
  { secretsFolder, postgresUrlFile: serverFile }: LocalSettings,
  lock: MachineLock,
  log: Log,
): ServiceDatabases {
  const urlsFolder = join(lock.folder, 'databases');
  const dataFolder = dataFolderIn(lock);
  return new ServiceDatabases({ dataFolder, urlsFolder, secretsFolder, serverFile, log });
}

function relayed({ issuer, section: { readTimeoutMs } }: Provider): RelayedProvider {
  return { issuer, readTimeoutMs };
}

function runnable(
  { serviceTokens: { audience } }: LocalSettings,
  { version }: Installed,
  { noPrograms }: InstanceCommands,
): Runnable {
  return { version, noPrograms, hasServiceAudience: audience !== undefined };
}

/** The control groups of instances; undefined: there are none. */
function cgroupsOf(
  { cgroup, section }: LocalSettings,
  { folder }: MachineLock,
  log: Log,
): InstanceCgroups | undefined {
  if (cgroup === undefined) return undefined;
  const { processesMax } = section;
  return InstanceCgroups.open({ cgroup, machineFolder: folder, processesMax, log });
}

/** The certificates of the machine, which instances get from now on; undefined if they are to listen without TLS. */
async function certificatesOf(
  { newAuthority, plainInstances, section }: LocalSettings,
  domain: string,
  { folder }: MachineLock,
  log: Log,
): Promise<MachineCertificates | undefined> {
  if (plainInstances) {
    log({
      level: 'warn',
      message:
        'Instances have no identity: they listen without TLS, and do not know who calls them. Use svc.local.plain-instances for development only',
    });
    return undefined;
  }
  const instances = join(folder, 'instances');
  return await MachineCertificates.open({
    folder,
    domain,
    isNew: newAuthority,
    holders: () =>
      InstanceFolder.readAll(instances)
        .filter(({ identityFolder }) => existsSync(identityFolder))
        .map(({ identityFolder, spec: { key } }) => ({ folder: identityFolder, key })),
    times: section,
    clock: SYSTEM_CLOCK,
    log,
  });
}
