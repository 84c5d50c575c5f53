// ServicePorts: the ports of a pod, with who may reach each. A port that is not listed is reached inside the pod alone: that of a web-hosted
// process, the one at which it calls other services, and that of components in a process.
import {
  hostingKind,
  HTTP_PORT,
  MANAGEMENT_PORT,
  READINESS_PORT,
  REMOTING_PORT,
  type ServiceDescriptor,
} from '@svc/client';
import type { JsonObject } from './manifest.ts';
import { PORT_NAMES } from './object-names.ts';

/** `anyone`, `cluster`: every pod of the cluster, `service`: the pods of the service itself. */
export type Reach = 'anyone' | 'cluster' | 'service';

export interface PodPort {
  readonly name: string;
  readonly port: number;
  readonly reach: Reach;
}

/** Returns the port on which the service takes requests; undefined if it has no HTTP server. */
export function httpPort({ http, port = HTTP_PORT }: ServiceDescriptor): number | undefined {
  return http === false ? undefined : port;
}

/** Returns the ports of the service's pods. `remotingFrom`: who reaches the port of remoting. */
export function podPorts(
  descriptor: ServiceDescriptor,
  remotingFrom: 'cluster' | 'service',
): readonly PodPort[] {
  const port = httpPort(descriptor);
  const http: readonly PodPort[] =
    port === undefined ? [] : [{ name: PORT_NAMES.http, port, reach: 'cluster' }];
  if (hostingKind({ ...descriptor }) === 'web')
    return [...http, { name: PORT_NAMES.readiness, port: READINESS_PORT, reach: 'anyone' }];
  return [
    ...http,
    { name: PORT_NAMES.management, port: MANAGEMENT_PORT, reach: 'cluster' },
    { name: PORT_NAMES.remoting, port: REMOTING_PORT, reach: remotingFrom },
  ];
}

/** Returns the ports as a container declares them. */
export function containerPorts(ports: readonly PodPort[]): readonly JsonObject[] {
  return ports.map(({ name, port }) => ({ name, containerPort: port, protocol: 'TCP' }));
}
