// ServiceManifests: all objects of a service, as a pure function of how it should be and of the installation. The order is that in which they
// are applied: what pods need, and what protects them, is there before the pods, and what leads to them comes last.
import { projectNamespace, type ServiceKey } from '@svc/client';
import type { DesiredService } from '../../orchestration/orchestrator.ts';
import { databaseManifest } from './database-manifest.ts';
import { disruptionBudget } from './disruption-budget.ts';
import { envSecrets } from './env-secret.ts';
import { ingressManifest } from './ingress.ts';
import type { KubernetesInstallation } from './installation.ts';
import { journalNote } from './journal-note.ts';
import type { Manifest } from './manifest.ts';
import { networkPolicy } from './network-policy.ts';
import { INSTALLATION_ANNOTATION, projectLabels } from './object-names.ts';
import { serviceManifest } from './service-manifest.ts';
import { workloadManifest } from './workload-manifest.ts';

/** The secret with the certificate of the service is not among them: what it should be depends on the one that is there (`identity-secrets.ts`). */
export function manifestsOf(
  desired: DesiredService,
  installation: KubernetesInstallation,
): readonly Manifest[] {
  const all = [
    namespaceManifest(desired.key, installation),
    databaseManifest(desired, installation),
    journalNote(desired, installation),
    ...envSecrets(desired),
    networkPolicy(desired, installation),
    serviceManifest(desired),
    disruptionBudget(desired, installation),
    workloadManifest(desired, installation),
    ingressManifest(desired, installation),
  ];
  return all.filter((manifest) => manifest !== undefined);
}

/** Pods that ask for more rights than those of services are refused in it, from 1.23 on. */
export function namespaceManifest(
  { project }: Pick<ServiceKey, 'project'>,
  { id }: Pick<KubernetesInstallation, 'id'>,
): Manifest {
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      name: projectNamespace(project),
      labels: { ...projectLabels(project), 'pod-security.kubernetes.io/enforce': 'restricted' },
      annotations: { [INSTALLATION_ANNOTATION]: id },
    },
  };
}
