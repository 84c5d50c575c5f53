// WorkloadManifest: what runs the pods of a service: a StatefulSet of one, with a volume, if its journal is on a volume, and a Deployment
// otherwise. What an observation has to know of a reconcile is in annotations.
import type { DesiredService } from '../../orchestration/orchestrator.ts';
import type { JournalVolumes, KubernetesInstallation } from './installation.ts';
import { journalAnnotations } from './journal-note.ts';
import { journalStorage } from './journal-storage.ts';
import type { JsonObject, Manifest } from './manifest.ts';
import {
  APPLIED_GENERATION_ANNOTATION,
  GENERATION_ANNOTATION,
  INCARNATION_ANNOTATION,
  INSTANCES_ANNOTATION,
  JOURNAL_VOLUME,
  serviceLabels,
  serviceMetadata,
} from './object-names.ts';
import { podTemplate } from './pod-template.ts';

/** After this time without progress a rollout has failed, in seconds. A StatefulSet has no such time: an observation counts it. */
export const PROGRESS_DEADLINE_S = 600;
/** Former versions that Kubernetes keeps. The control plane has the history. */
const REVISIONS = 2;

export function workloadManifest(
  desired: DesiredService,
  installation: KubernetesInstallation,
): Manifest {
  const { key, descriptor, instances } = desired;
  const isOnVolume = journalStorage(descriptor, installation) === 'volume';
  return {
    apiVersion: 'apps/v1',
    kind: isOnVolume ? 'StatefulSet' : 'Deployment',
    metadata: {
      ...serviceMetadata(key),
      annotations: { ...annotationsOf(desired), ...journalAnnotations(desired, installation) },
    },
    spec: {
      // A journal on a volume has one writer, whatever a descriptor says.
      replicas: isOnVolume ? Math.min(1, instances) : instances,
      revisionHistoryLimit: REVISIONS,
      selector: { matchLabels: serviceLabels(key) },
      ...(isOnVolume
        ? statefulFields(desired, installation.journals)
        : {
            progressDeadlineSeconds: PROGRESS_DEADLINE_S,
            strategy: {
              type: 'RollingUpdate',
              rollingUpdate: { maxSurge: 1, maxUnavailable: 0 },
            },
          }),
      template: podTemplate(desired, installation),
    },
  };
}

function annotationsOf({
  incarnation,
  generation,
  appliedGeneration,
  instances,
}: DesiredService): Readonly<Record<string, string>> {
  return {
    [INCARNATION_ANNOTATION]: incarnation,
    [GENERATION_ANNOTATION]: String(generation),
    [APPLIED_GENERATION_ANNOTATION]: String(appliedGeneration),
    [INSTANCES_ANNOTATION]: String(instances),
  };
}

function statefulFields(
  { key }: DesiredService,
  { storageClass, size }: JournalVolumes,
): JsonObject {
  return {
    serviceName: key.service,
    // With OrderedReady, a pod that never becomes ready would not be replaced by that of a corrected descriptor.
    podManagementPolicy: 'Parallel',
    updateStrategy: { type: 'RollingUpdate' },
    volumeClaimTemplates: [
      {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name: JOURNAL_VOLUME, labels: serviceLabels(key) },
        spec: {
          accessModes: ['ReadWriteOnce'],
          ...(storageClass === undefined ? {} : { storageClassName: storageClass }),
          resources: { requests: { storage: size } },
        },
      },
    ],
  };
}
