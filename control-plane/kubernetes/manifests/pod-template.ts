// PodTemplate: the pods of a service, by its hosting. A pod is replaced when its template changes, so nothing is in it that a pause, or
// another number of instances alone, changes.
//
// Invariant: templates of a service that differ have different annotations, so that pods are distinguished by these alone, also where only the
// installation has changed, and the generation of the service has not.
import { createHash } from 'node:crypto';
import {
  PROCESS_PORT,
  type ServiceDescriptor,
  WEB_PROTOCOL,
  type WebServiceDescriptor,
} from '@svc/client';
import type { DesiredService } from '../../orchestration/orchestrator.ts';
import type { KubernetesInstallation } from './installation.ts';
import { journalStorage } from './journal-storage.ts';
import type { JsonObject } from './manifest.ts';
import {
  GENERATION_ANNOTATION,
  INCARNATION_ANNOTATION,
  serviceLabels,
  TEMPLATE_ANNOTATION,
} from './object-names.ts';
import { moduleCopy, moduleRuntime, processRuntime, proxyContainer } from './platform-container.ts';
import { graceSeconds, POD_SECURITY } from './pod-settings.ts';
import {
  componentProgram,
  embeddedProgram,
  type PodContainer,
  webProgram,
} from './program-container.ts';
import { httpPort } from './service-ports.ts';

/** Ports below this one need a right that no container has, unless the pod asks for ports without it. */
const PRIVILEGED_PORTS_END = 1024;

interface PodParts {
  readonly initContainers: readonly JsonObject[];
  readonly containers: readonly PodContainer[];
}

export function podTemplate(
  desired: DesiredService,
  installation: KubernetesInstallation,
): JsonObject {
  const { incarnation, generation } = desired;
  const labels = serviceLabels(desired.key);
  const spec = podSpec(desired, installation);
  return {
    metadata: {
      labels,
      annotations: {
        [INCARNATION_ANNOTATION]: incarnation,
        [GENERATION_ANNOTATION]: String(generation),
        [TEMPLATE_ANNOTATION]: digestOf([labels, spec]),
      },
    },
    spec,
  };
}

function digestOf(parts: readonly JsonObject[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64');
}

function podSpec(desired: DesiredService, installation: KubernetesInstallation): JsonObject {
  const { key, descriptor } = desired;
  const { initContainers, containers } = partsOf(desired, installation);
  const volumes = containers.flatMap(({ files }) =>
    files.flatMap(({ volume }) => (volume === undefined ? [] : [volume])),
  );
  return {
    automountServiceAccountToken: false,
    // A service of the namespace with the name svc would set variables of a runtime otherwise.
    enableServiceLinks: false,
    terminationGracePeriodSeconds: graceSeconds(
      installation,
      journalStorage(descriptor, installation),
    ),
    securityContext: podSecurity(descriptor),
    ...(installation.pullSecrets.length === 0
      ? {}
      : { imagePullSecrets: installation.pullSecrets.map((name) => ({ name })) }),
    ...(initContainers.length === 0 ? {} : { initContainers }),
    containers: containers.map(({ container }) => container),
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: 'kubernetes.io/hostname',
        whenUnsatisfiable: 'ScheduleAnyway',
        labelSelector: { matchLabels: serviceLabels(key) },
      },
    ],
    volumes,
  };
}

function partsOf(desired: DesiredService, installation: KubernetesInstallation): PodParts {
  const { descriptor } = desired;
  if (isWebHosted(descriptor))
    return {
      initContainers: [],
      containers: [
        proxyContainer(desired, descriptor, installation),
        webProgram(desired, descriptor, installation),
      ],
    };
  if (descriptor.hosting === 'process')
    return {
      initContainers: [],
      containers: [processRuntime(desired, installation), componentProgram(desired, installation)],
    };
  if (descriptor.hosting === 'wasm')
    return {
      initContainers: [moduleCopy(desired)],
      containers: [moduleRuntime(desired, installation)],
    };
  return { initContainers: [], containers: [embeddedProgram(desired, installation)] };
}

function podSecurity(descriptor: ServiceDescriptor): JsonObject {
  const ports = [
    httpPort(descriptor),
    isWebHosted(descriptor) ? (descriptor.processPort ?? PROCESS_PORT) : undefined,
  ];
  return ports.some((port) => port !== undefined && port < PRIVILEGED_PORTS_END)
    ? {
        ...POD_SECURITY,
        sysctls: [{ name: 'net.ipv4.ip_unprivileged_port_start', value: '0' }],
      }
    : POD_SECURITY;
}

function isWebHosted(descriptor: ServiceDescriptor): descriptor is WebServiceDescriptor {
  return descriptor.hosting === 'process' && descriptor.protocol === WEB_PROTOCOL;
}
