// GivenIdentities: what is wrong with the certificate of a service where the operator makes it, with cert-manager for example. The control plane reads
// the secret only to say so.
import { parseCertificates } from '@svc/identity/certificates';
import { serviceId } from '@svc/identity/spiffe-id';
import type { ServiceKey } from '@svc/client';
import { KubeError } from './api/kube-error.ts';
import type { FoundPod } from './found-objects.ts';
import { identityIn, serviceIdentitySecret } from './manifests/identity-secret.ts';
import { pathOf } from './manifests/manifest.ts';
import { hasTroubles, isServing } from './pod-states.ts';
import type { Cluster } from './reconcile-steps.ts';

/**
 * Returns what is wrong, worded for the members of the service; undefined: nothing, or no instance waits without the cluster saying why. Rejects with the reason of
 * the signal alone.
 */
export async function givenIdentityProblem(
  { client, installation: { trustDomain }, clock }: Cluster,
  key: ServiceKey,
  pods: readonly FoundPod[],
  signal: AbortSignal,
): Promise<string | undefined> {
  const isWaiting = pods.some(
    (pod) => pod.metadata.deletionTimestamp === undefined && !isServing(pod) && !hasTroubles(pod),
  );
  if (!isWaiting) return undefined;
  const secret = serviceIdentitySecret(key);
  const { name, namespace } = secret.metadata;
  try {
    const found = await client.get(pathOf(secret), signal);
    if (found === undefined)
      return `it waits for the secret ${name} with its certificate, which the operator of this installation makes in the namespace ${namespace}`;
    const texts = identityIn(found);
    if (texts === undefined)
      return `the secret ${name} with its certificate lacks tls.crt, tls.key or ca.crt`;
    const parsed = parseCertificates(texts, clock.nowMs(), serviceId(trustDomain, key));
    return 'problem' in parsed
      ? `the secret ${name} with its certificate cannot be used: ${parsed.problem}`
      : undefined;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof KubeError) return undefined;
    throw error;
  }
}
