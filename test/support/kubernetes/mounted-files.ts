// MountedFiles: the files that a container has by the secrets of its pod, as a kubelet mounts them.
import type { KubeClient } from '../../../control-plane/kubernetes/api/kube-client.ts';
import type { KubeObject } from '../../../control-plane/kubernetes/api/kube-object.ts';
import type { Container } from './read-manifests.ts';

interface SecretVolume {
  readonly name: string;
  readonly secret?: {
    readonly secretName: string;
    readonly optional?: boolean;
    readonly items?: readonly { readonly key: string; readonly path: string }[];
  };
}

/** Asks for a secret; undefined: there is none. */
export type SecretReader = (namespace: string, name: string) => Promise<KubeObject | undefined>;

/** Returns the files of a container by their absolute paths; undefined while a secret or a key of it is missing. */
export async function mountedFiles(
  pod: KubeObject,
  { volumeMounts }: Container,
  secretOf: SecretReader,
): Promise<Readonly<Record<string, Uint8Array>> | undefined> {
  const { volumes } = pod['spec'] as { readonly volumes: readonly SecretVolume[] };
  const files: Record<string, Uint8Array> = {};
  for (const { name, mountPath } of volumeMounts) {
    const { secret } = volumes.find((volume) => volume.name === name)!;
    if (secret === undefined) continue;
    const found = await secretOf(pod.metadata.namespace!, secret.secretName);
    if (found === undefined && secret.optional === true) continue;
    const data = (found?.['data'] ?? {}) as Readonly<Record<string, string>>;
    const items = secret.items ?? Object.keys(data).map((key) => ({ key, path: key }));
    for (const { key, path } of items) {
      if (data[key] === undefined) return undefined;
      files[`${mountPath}/${path}`] = Buffer.from(data[key], 'base64');
    }
  }
  return files;
}

/** Returns what asks the server for secrets. */
export function secretReader(client: KubeClient): SecretReader {
  return (namespace, name) => client.get(`/api/v1/namespaces/${namespace}/secrets/${name}`);
}
