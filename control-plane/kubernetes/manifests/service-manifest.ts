// ServiceManifest: the Service by which others find the pods of a service. It has no address of its own: its name in DNS gives the address of every
// ready pod, and the record of the port `http` (SRV) the port.
import type { DesiredService } from '../../orchestration/orchestrator.ts';
import type { Manifest } from './manifest.ts';
import { PORT_NAMES, serviceLabels, serviceMetadata } from './object-names.ts';
import { podPorts } from './service-ports.ts';

/** Ports that are found by DNS. Nodes learn of one another from their database. */
const FOUND: ReadonlySet<string> = new Set([PORT_NAMES.http, PORT_NAMES.management]);

export function serviceManifest({ key, descriptor }: DesiredService): Manifest {
  const ports = podPorts(descriptor, 'cluster').filter(({ name }) => FOUND.has(name));
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: serviceMetadata(key),
    spec: {
      clusterIP: 'None',
      selector: serviceLabels(key),
      ports: ports.map(({ name, port }) => ({ name, port, protocol: 'TCP', targetPort: name })),
    },
  };
}
