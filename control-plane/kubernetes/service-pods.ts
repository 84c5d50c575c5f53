// ServicePods: which pods are instances of a service. Labels alone do not tell, since anyone with rights in the namespace can give them to a pod: an
// instance is a pod that the controllers of the cluster have made for the workload of the service.
import type { ServiceKey } from '@svc/client';
import type { KubeObject } from './api/kube-object.ts';
import type { FoundPod, FoundRevision } from './found-objects.ts';

interface OwnerReference {
  readonly kind?: string;
  readonly name?: string;
  readonly uid?: string;
  readonly controller?: boolean;
}

/** `revisions`: among them the ReplicaSets with the labels of the service, listed after the pods. */
export function instancesOf(
  { service }: ServiceKey,
  pods: readonly FoundPod[],
  revisions: readonly FoundRevision[],
): readonly FoundPod[] {
  const own = new Set(
    revisions
      .filter((revision) => isControlledBy(revision, 'Deployment', service))
      .map(({ metadata }) => metadata.uid),
  );
  return pods.filter(
    (pod) => isControlledBy(pod, 'StatefulSet', service) || own.has(controllerOf(pod)?.uid),
  );
}

/** Whether ReplicaSets tell of which service one of the pods is. */
export function needReplicaSets(pods: readonly FoundPod[]): boolean {
  return pods.some((pod) => controllerOf(pod)?.kind === 'ReplicaSet');
}

function isControlledBy(object: KubeObject, kind: string, name: string): boolean {
  const controller = controllerOf(object);
  return controller?.kind === kind && controller.name === name;
}

/** The cluster removes objects whose controller does not exist. */
function controllerOf({ metadata }: KubeObject): OwnerReference | undefined {
  const references = (metadata['ownerReferences'] ?? []) as readonly OwnerReference[];
  return references.find(({ controller }) => controller === true);
}
