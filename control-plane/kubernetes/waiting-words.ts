// WaitingWords: why a service has not started, where the status of its objects does not say so: its database is not there yet, a volume cannot be mounted,
// or a quota refuses the pod of a StatefulSet.
//
// Invariant: no value of a secret is read, and nothing that is asked here keeps a service from being observed.
import { projectNamespace, type ServiceKey } from '@svc/client';
import { WorkloadRefused } from '../orchestration/orchestrator.ts';
import type { KubeClient } from './api/kube-client.ts';
import { KubeError } from './api/kube-error.ts';
import type { KubeObject } from './api/kube-object.ts';
import type { JsonObject } from './api/kube-transport.ts';
import {
  conditionOf,
  type FoundCondition,
  type FoundPod,
  type FoundService,
  latestMs,
  timeMs,
} from './found-objects.ts';
import type { KubernetesInstallation, ProvisionedDatabases } from './manifests/installation.ts';
import {
  databaseName,
  JOURNAL_ANNOTATION,
  JOURNAL_SECRET_ANNOTATION,
  serviceMetadata,
} from './manifests/object-names.ts';
import { hasTroubles, isServing } from './pod-states.ts';
import type { ResourcePaths } from './resource-paths.ts';

export interface WaitingCluster {
  readonly client: KubeClient;
  readonly paths: ResourcePaths;
  readonly installation: Pick<KubernetesInstallation, 'databases'>;
}

type WaitingObjects = Pick<FoundService, 'workloads' | 'revisions' | 'pods'>;

/** Age from which a pod, or what should have one, is asked about that has not started, in milliseconds. Most pods have started by then. */
export const WAITING_MS = 3000;

/**
 * Returns what waits although it is no longer new, and whose status says nothing of it: a pod whose containers wait, or a StatefulSet without a pod, which has
 * no condition for one that is refused as a Deployment has; undefined: there is none.
 */
export function waitingObject(
  { workloads: [workload], revisions, pods }: WaitingObjects,
  nowMs: number,
): KubeObject | undefined {
  const wantsPods = workload?.kind === 'StatefulSet' && (workload.spec?.replicas ?? 0) > 0;
  if (!wantsPods || pods.length > 0) return waitingPod(pods, nowMs);
  const changedMs = latestMs(revisions.map(({ metadata }) => metadata.creationTimestamp));
  return nowMs - changedMs >= WAITING_MS ? workload : undefined;
}

function waitingPod(pods: readonly FoundPod[], nowMs: number): FoundPod | undefined {
  return pods.find(
    (pod) =>
      pod.metadata.deletionTimestamp === undefined &&
      !isServing(pod) &&
      !hasTroubles(pod) &&
      (pod.status?.containerStatuses ?? []).every(({ state }) => state?.running === undefined) &&
      nowMs - (timeMs(pod.metadata.creationTimestamp) ?? nowMs) >= WAITING_MS,
  );
}

/** Returns why the object waits; undefined if nobody says so. Rejects with the reason of the signal alone. */
export async function waitingWords(
  cluster: WaitingCluster,
  key: ServiceKey,
  { workload, waiting }: { readonly workload: KubeObject; readonly waiting: KubeObject },
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    return (
      (await databaseWords(cluster, key, workload, signal)) ??
      (await lastWarning(cluster.client, key, waiting, signal))
    );
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof KubeError || error instanceof WorkloadRefused) return undefined;
    throw error;
  }
}

async function databaseWords(
  cluster: WaitingCluster,
  key: ServiceKey,
  { metadata: { annotations } }: KubeObject,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { databases } = cluster.installation;
  const storage = annotations?.[JOURNAL_ANNOTATION];
  const supplied = annotations?.[JOURNAL_SECRET_ANNOTATION];
  if (storage === 'supplied' && supplied !== undefined)
    return (await hasSecret(cluster.client, key, supplied, signal))
      ? undefined
      : `it waits for the secret ${supplied} (database.urlFrom), which the operator of this installation makes in the namespace ${projectNamespace(key.project)}`;
  return storage === 'provisioned' && databases !== undefined
    ? await provisionedWords(cluster, key, databases, signal)
    : undefined;
}

async function provisionedWords(
  { client, paths }: WaitingCluster,
  key: ServiceKey,
  { apiVersion, kind, secretSuffix }: ProvisionedDatabases,
  signal: AbortSignal,
): Promise<string | undefined> {
  const name = databaseName(key);
  const secret = `${name}${secretSuffix}`;
  if (await hasSecret(client, key, secret, signal)) return undefined;
  const reference = { apiVersion, kind, metadata: serviceMetadata(key, name) };
  const found = await client.get(await paths.pathOf(reference, signal), signal);
  const words = found === undefined ? 'it is gone' : statusWords(found['status']);
  return `it waits for the secret ${secret} of its database, the ${kind} ${name}: ${words}`;
}

/** Resources say how far they are in one of two customary ways: by a phase, or by the condition Ready. */
function statusWords(status: unknown): string {
  const { phase, phaseReason, conditions } = Object(status) as JsonObject;
  const ready = Array.isArray(conditions)
    ? conditionOf(conditions as readonly FoundCondition[], 'Ready', 'False')
    : undefined;
  const texts = [phase, phaseReason ?? ready?.message].filter(
    (text) => typeof text === 'string' && text !== '',
  );
  return texts.length === 0 ? 'nothing has taken it up yet' : texts.join(', ');
}

async function hasSecret(
  client: KubeClient,
  { project }: ServiceKey,
  name: string,
  signal: AbortSignal,
): Promise<boolean> {
  const path = `/api/v1/namespaces/${projectNamespace(project)}/secrets/${encodeURIComponent(name)}`;
  return (await client.getMetadata(path, signal)) !== undefined;
}

/** Returns the last warning about an object, such as that a volume cannot be mounted. */
async function lastWarning(
  client: KubeClient,
  { project }: ServiceKey,
  { metadata }: KubeObject,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { items } = await client.list(`/api/v1/namespaces/${projectNamespace(project)}/events`, {
    fieldSelector: `involvedObject.uid=${metadata.uid},type=Warning`,
    signal,
  });
  const [last] = items.toSorted((one, other) => eventMs(other) - eventMs(one));
  if (last === undefined) return undefined;
  const { reason, message } = last as { readonly reason?: string; readonly message?: string };
  return [reason, message].filter((text) => text !== undefined && text !== '').join(': ');
}

function eventMs({ lastTimestamp, eventTime, metadata }: KubeObject): number {
  return timeMs(lastTimestamp) ?? timeMs(eventTime) ?? timeMs(metadata.creationTimestamp) ?? 0;
}
