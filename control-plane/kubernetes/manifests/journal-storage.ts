// JournalStorage: where a service has its journal in a cluster. Only runtimes of the platform's own image share a database: a program
// with the runtime in it has its journal on a volume.
import { hostingKind, type ServiceDescriptor } from '@svc/client';
import type { KubernetesInstallation } from './installation.ts';

/**
 * `none`: the service has no journal. `volume`: SQLite on a volume, for one instance. `supplied`: the database that its descriptor names.
 * `provisioned`: the one that the cluster makes for it.
 */
export type JournalStorage = 'none' | 'volume' | 'supplied' | 'provisioned';

export function journalStorage(
  descriptor: ServiceDescriptor,
  { databases }: Pick<KubernetesInstallation, 'databases'>,
): JournalStorage {
  const kind = hostingKind({ ...descriptor });
  if (kind === 'web') return 'none';
  if (kind === 'embedded') return 'volume';
  if (descriptor.database !== undefined) return 'supplied';
  return databases === undefined ? 'volume' : 'provisioned';
}

/** Whether several instances share the journal. */
export function isInDatabase(storage: JournalStorage): boolean {
  return storage === 'supplied' || storage === 'provisioned';
}
