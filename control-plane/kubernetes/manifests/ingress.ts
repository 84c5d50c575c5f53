// Ingress: the hostnames that lead to a service from outside. A paused service keeps them.
import type { DesiredService } from '../../orchestration/orchestrator.ts';
import type { KubernetesInstallation } from './installation.ts';
import type { Manifest } from './manifest.ts';
import { hostnamesSecretName, PORT_NAMES, serviceMetadata } from './object-names.ts';

/** Returns the Ingress; undefined if no hostname leads to the service, or the installation makes none. */
export function ingressManifest(
  { key, hostnames }: DesiredService,
  { ingress }: Pick<KubernetesInstallation, 'ingress'>,
): Manifest | undefined {
  const hosts = [...new Set(hostnames)];
  if (ingress === undefined || hosts.length === 0) return undefined;
  const backend = { service: { name: key.service, port: { name: PORT_NAMES.http } } };
  const { className, annotations, certificates } = ingress;
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: {
      ...serviceMetadata(key),
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
    },
    spec: {
      ingressClassName: className,
      rules: hosts.map((host) => ({
        host,
        http: { paths: [{ path: '/', pathType: 'Prefix', backend }] },
      })),
      tls: [
        {
          hosts,
          ...(certificates === 'service' ? { secretName: hostnamesSecretName(key) } : {}),
        },
      ],
    },
  };
}
