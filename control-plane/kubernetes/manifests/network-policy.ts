// NetworkPolicy: who may connect to the pods of a service. What it does not name is refused, such as the port of a process, whose callers
// could claim to be anybody.
import type { DesiredService } from '../../orchestration/orchestrator.ts';
import type { KubernetesInstallation } from './installation.ts';
import type { JsonObject, Manifest } from './manifest.ts';
import { serviceLabels, serviceMetadata } from './object-names.ts';
import { type PodPort, podPorts, type Reach } from './service-ports.ts';

export function networkPolicy(
  { key, descriptor }: DesiredService,
  { remotingFrom }: Pick<KubernetesInstallation, 'remotingFrom'>,
): Manifest {
  const labels = serviceLabels(key);
  const ports = podPorts(descriptor, remotingFrom);
  const peers: Readonly<Record<Reach, readonly JsonObject[]>> = {
    anyone: [],
    cluster: [{ namespaceSelector: {} }],
    service: [{ podSelector: { matchLabels: labels } }],
  };
  const reaches: readonly Reach[] = ['cluster', 'service', 'anyone'];
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: serviceMetadata(key),
    spec: {
      podSelector: { matchLabels: labels },
      policyTypes: ['Ingress'],
      ingress: reaches.flatMap((reach) =>
        rule(
          ports.filter((port) => port.reach === reach),
          peers[reach],
        ),
      ),
    },
  };
}

/** A rule without peers admits everybody. */
function rule(ports: readonly PodPort[], peers: readonly JsonObject[]): readonly JsonObject[] {
  if (ports.length === 0) return [];
  return [
    {
      ...(peers.length === 0 ? {} : { from: peers }),
      ports: ports.map(({ port }) => ({ port, protocol: 'TCP' })),
    },
  ];
}
