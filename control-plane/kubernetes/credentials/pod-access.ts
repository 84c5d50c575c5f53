// PodAccess: how the control plane reaches the cluster in which it is a pod, from the variables and files that the cluster gives to each pod with a
// ServiceAccount.
import { readFileSync, statSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import type { ClusterAccess } from './cluster-access.ts';
import { unusableAccess } from './unusable-access.ts';

export const ACCOUNT_FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount';

const REMEDY =
  'Give the pod of the control plane a ServiceAccount with its token, or set svc.kubernetes.kubeconfig if the control plane runs outside of the cluster.';

/** `environment`: that of the control plane. Throws SVC_KUBECONFIG_UNUSABLE. */
export function readPodAccess(
  environment: Readonly<Record<string, string | undefined>>,
  folder = ACCOUNT_FOLDER,
): ClusterAccess {
  const source = 'The pod of the control plane';
  const host = environment['KUBERNETES_SERVICE_HOST'];
  const port = environment['KUBERNETES_SERVICE_PORT'];
  if (!host || !/^\d{1,5}$/.test(port ?? ''))
    throw unusableAccess(
      'Without svc.kubernetes.kubeconfig the control plane',
      'has to be a pod of the cluster, but KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT name no API server',
      REMEDY,
    );
  const [tokenFile, authorityFile] = [join(folder, 'token'), join(folder, 'ca.crt')];
  for (const file of [tokenFile, authorityFile])
    try {
      statSync(file);
    } catch (error) {
      const reason = (error as NodeJS.ErrnoException).code ?? 'it is no file';
      throw unusableAccess(source, `has no ${file}: ${reason}`, REMEDY, error);
    }
  return {
    source,
    server: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`,
    authority: { file: authorityFile },
    serverName: undefined,
    user: { token: undefined, tokenFile, pair: undefined, plugin: undefined },
    podNamespace: namespaceIn(join(folder, 'namespace')),
  };
}

function namespaceIn(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}
