// ClusterIdentity: which cluster an API server is of, and what it can do. A cluster is identified by the uid of its namespace
// kube-system, which every cluster has for as long as it exists.
import { SvcError } from '@svc/kit/svc-error';
import type { KubeClient } from './api/kube-client.ts';
import { KubeError } from './api/kube-error.ts';
import { transportError } from './api/transport-error.ts';
import type { ClusterFeatures } from './manifests/installation.ts';

export interface ClusterIdentity {
  readonly uid: string;
  /** `1.30`; undefined: the server does not say. */
  readonly version: string | undefined;
  readonly features: ClusterFeatures;
}

export interface RememberedCluster {
  readonly uid: string;
  /** Id of the installation, which it keeps for ever. */
  readonly installation: string;
}

/** Where the control plane remembers in which cluster its services are. */
export interface ClusterMemory {
  /** Remembers the cluster if none is remembered, or if `isNew`. Resolves with the one that is remembered then. */
  remember(uid: string, isNew: boolean): Promise<RememberedCluster>;
}

const SYSTEM_NAMESPACE = '/api/v1/namespaces/kube-system';
const UID = /^[A-Za-z0-9-]{1,100}$/;
const POLICY = '/apis/policy';
const DISRUPTION_BUDGETS = 'policy/v1';
/** Minor version of Kubernetes 1 from which on pods wait by themselves. */
const SLEEP_ACTION = 30;

/** Rejects with KubeError. */
export async function identifyCluster(
  client: KubeClient,
  signal: AbortSignal,
): Promise<ClusterIdentity> {
  const [uid, { major, minor }, policy] = await Promise.all([
    clusterUid(client, signal),
    client.transport.send({ method: 'GET', path: '/version', signal }),
    client.transport.send({ method: 'GET', path: POLICY, signal }),
  ]);
  // Some clusters have a version such as `30+`, and some that were built by their operator have none.
  const number = major === '1' ? /^\d{1,4}/.exec(String(minor))?.[0] : undefined;
  return {
    uid,
    version: number === undefined ? undefined : `1.${number}`,
    features: featuresOf(number === undefined ? 0 : Number(number), policy['versions']),
  };
}

/** Rejects with KubeError. */
export async function clusterUid(client: KubeClient, signal: AbortSignal): Promise<string> {
  const uid = (await client.get(SYSTEM_NAMESPACE, signal))?.metadata.uid;
  if (uid === undefined || !UID.test(uid))
    throw new KubeError('invalid', 'the API server has no namespace kube-system with a uid');
  return uid;
}

/** `minor`: 0 if it is not known. `policyVersions`: those of the group `policy`, as the server lists them. */
export function featuresOf(minor: number, policyVersions: unknown): ClusterFeatures {
  const versions = Array.isArray(policyVersions) ? (policyVersions as readonly unknown[]) : [];
  const hasBudgets = versions.some(
    (one) =>
      (one as { readonly groupVersion?: unknown } | null)?.groupVersion === DISRUPTION_BUDGETS,
  );
  return {
    disruptionBudgets: hasBudgets ? DISRUPTION_BUDGETS : 'policy/v1beta1',
    hasSleepAction: minor >= SLEEP_ACTION,
  };
}

/** Returns the error of a cluster that cannot be identified, with what to do if the operator has to do something. `server`: its URL. */
export function identificationError(error: unknown, server: string): Error {
  if (error instanceof SvcError) return error;
  const failure = transportError(error);
  if (failure.cause instanceof SvcError) return failure.cause;
  const named = `The API server ${server}`;
  if (failure.kind === 'untrusted')
    return new SvcError(
      'SVC_CLUSTER_UNTRUSTED',
      `${named} is not trusted: ${failure.message}. Compare the authority of the kubeconfig with that of the cluster, and the server with the name for which its certificate is.`,
      { cause: failure },
    );
  if (failure.status === 401 || failure.status === 403)
    return new SvcError(
      'SVC_CLUSTER_REFUSED',
      failure.status === 401
        ? `${named} does not accept the credentials of the control plane: ${failure.message}. Renew them in the kubeconfig, or give the pod of the control plane a ServiceAccount.`
        : `${named} does not give the control plane the rights that it needs: ${failure.message}. Bind the ClusterRole of the control plane to its user or ServiceAccount.`,
      { cause: failure },
    );
  return new Error(`${named} cannot be used: ${failure.message}`, { cause: failure });
}

export function otherCluster(uid: string, remembered: string, server: string): SvcError {
  return new SvcError(
    'SVC_CLUSTER_CHANGED',
    `The API server ${server} is of another cluster (${uid}) than the one in which the services of this installation run (${remembered}). Nothing was changed there, because services would begin with empty journals. Correct the kubeconfig or its context; if the installation has moved with all its data, start once with svc.kubernetes.new-cluster=true.`,
  );
}
