// DatabaseManifest: the custom resource by which the cluster makes the database of a service. It stays when the service is deleted, so
// that applying the same name again finds the data.
import type { DesiredService } from '../../orchestration/orchestrator.ts';
import type { KubernetesInstallation } from './installation.ts';
import { journalStorage } from './journal-storage.ts';
import type { Manifest } from './manifest.ts';
import { databaseName, serviceMetadata } from './object-names.ts';

export function databaseManifest(
  { key, descriptor }: DesiredService,
  { databases }: Pick<KubernetesInstallation, 'databases'>,
): Manifest | undefined {
  if (databases === undefined || journalStorage(descriptor, { databases }) !== 'provisioned')
    return undefined;
  const { apiVersion, kind, spec } = databases;
  return { apiVersion, kind, metadata: serviceMetadata(key, databaseName(key)), spec };
}
