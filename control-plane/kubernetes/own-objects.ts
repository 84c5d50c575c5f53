// OwnObjects: which objects of a cluster are those of a service or of a project. All others are left as they are.
import type { ServiceKey } from '@svc/client';
import type { KubeClient } from './api/kube-client.ts';
import type { KubeObject } from './api/kube-object.ts';
import type { KubernetesInstallation } from './manifests/installation.ts';
import { type Manifest, pathOf } from './manifests/manifest.ts';
import {
  INSTALLATION_ANNOTATION,
  MANAGED_BY_LABEL,
  PROJECT_LABEL,
  SERVICE_LABEL,
} from './manifests/object-names.ts';
import { namespaceManifest } from './manifests/service-manifests.ts';

interface OwnCluster {
  readonly client: KubeClient;
  readonly installation: KubernetesInstallation;
}

type Labels = Readonly<Record<string, string>>;

const OWNING_LABELS = [MANAGED_BY_LABEL, PROJECT_LABEL, SERVICE_LABEL];

/** Whether an object has the labels of a service, or of a project. */
export function isOwn({ metadata }: KubeObject, labels: Labels): boolean {
  return OWNING_LABELS.every((name) => metadata.labels?.[name] === labels[name]);
}

/**
 * Returns whether the namespace of a project is this installation's, or may become so: there is none, or it has the labels of the project and not the
 * annotation of another installation. Rejects with KubeError, and the reason of the signal.
 */
export async function isOwnProject(
  { client, installation }: OwnCluster,
  key: ServiceKey,
  signal: AbortSignal,
): Promise<boolean> {
  const manifest = namespaceManifest(key, installation);
  const found = await client.get(pathOf(manifest), signal);
  if (found === undefined) return true;
  return (
    isOwn(found, manifest.metadata.labels) &&
    otherInstallation(found, installation.id) === undefined
  );
}

/**
 * Returns whether this installation has applied the namespace of a project, so that a certificate may be written there before it is applied again.
 * Rejects with KubeError, and the reason of the signal.
 */
export async function isAppliedProject(
  { client, installation }: OwnCluster,
  key: ServiceKey,
  signal: AbortSignal,
): Promise<boolean> {
  const manifest = namespaceManifest(key, installation);
  const found = await client.get(pathOf(manifest), signal);
  return found !== undefined && isAppliedNamespace(found, manifest);
}

/** Whether the installation has applied a namespace that it wants as in `manifest`. */
export function isAppliedNamespace(found: KubeObject, { metadata: wanted }: Manifest): boolean {
  const id = wanted.annotations?.[INSTALLATION_ANNOTATION];
  return (
    isOwn(found, wanted.labels) && found.metadata.annotations?.[INSTALLATION_ANNOTATION] === id
  );
}

/** Returns the id of the installation that a namespace belongs to if it is another one than `own`. */
export function otherInstallation(
  { metadata }: KubeObject,
  own: string | undefined,
): string | undefined {
  const found = metadata.annotations?.[INSTALLATION_ANNOTATION];
  return own === undefined || found === own ? undefined : found;
}
