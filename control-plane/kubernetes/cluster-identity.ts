// ClusterIdentity: which cluster an API server is of, and what its version can do. A cluster is identified by the uid of its namespace
// kube-system, which every cluster has for as long as it exists.
import { SvcError } from '@svc/kit/svc-error';
import type { KubeClient } from './api/kube-client.ts';
import { KubeError } from './api/kube-error.ts';
import { transportError } from './api/transport-error.ts';
import type { ClusterFeatures } from './manifests/installation.ts';

export interface ClusterIdentity {
  readonly uid: string;
  /** `1.30`. */
  readonly version: string;
  readonly features: ClusterFeatures;
}

/** Where the control plane remembers in which cluster its services are. */
export interface ClusterMemory {
  /** Remembers the cluster if none is remembered, or if `isNew`. Resolves with the one that is remembered then. */
  remember(uid: string, isNew: boolean): Promise<string>;
}

const SYSTEM_NAMESPACE = '/api/v1/namespaces/kube-system';
const UID = /^[A-Za-z0-9-]{1,100}$/;
/** From these minor versions of Kubernetes 1 on. */
const DISRUPTION_BUDGETS_V1 = 21;
const SLEEP_ACTION = 30;

/** Rejects with KubeError. */
export async function identifyCluster(
  client: KubeClient,
  signal: AbortSignal,
): Promise<ClusterIdentity> {
  const [{ major, minor }, namespace] = await Promise.all([
    client.transport.send({ method: 'GET', path: '/version', signal }),
    client.get(SYSTEM_NAMESPACE, signal),
  ]);
  // Some clusters have a version such as `30+`.
  const number = /^\d{1,4}/.exec(String(minor))?.[0];
  if (major !== '1' || number === undefined)
    throw new KubeError('invalid', 'the version of the API server is none of Kubernetes 1');
  const uid = namespace?.metadata.uid;
  if (uid === undefined || !UID.test(uid))
    throw new KubeError('invalid', 'the API server has no namespace kube-system with a uid');
  return { uid, version: `1.${number}`, features: featuresOf(Number(number)) };
}

export function featuresOf(minor: number): ClusterFeatures {
  return {
    disruptionBudgets: minor >= DISRUPTION_BUDGETS_V1 ? 'policy/v1' : 'policy/v1beta1',
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
