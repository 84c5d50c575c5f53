// DisruptionBudget: how many instances of a service a drained node may take at a time. One instance alone has none, since it would keep
// the node from being drained.
import { INSTANCES_DEFAULT } from '@svc/client';
import type { DesiredService } from '../../orchestration/orchestrator.ts';
import type { KubernetesInstallation } from './installation.ts';
import type { Manifest } from './manifest.ts';
import { serviceLabels, serviceMetadata } from './object-names.ts';

export function disruptionBudget(
  { key, descriptor: { instances = INSTANCES_DEFAULT } }: DesiredService,
  { cluster }: Pick<KubernetesInstallation, 'cluster'>,
): Manifest | undefined {
  if (instances === 1) return undefined;
  return {
    apiVersion: cluster.disruptionBudgets,
    kind: 'PodDisruptionBudget',
    metadata: serviceMetadata(key),
    spec: { maxUnavailable: 1, selector: { matchLabels: serviceLabels(key) } },
  };
}
