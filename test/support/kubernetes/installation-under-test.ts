// InstallationUnderTest: an installation on Kubernetes, and services that it is to run.
import type {
  EmbeddedServiceDescriptor,
  ProcessServiceDescriptor,
  ServiceDescriptor,
  WasmServiceDescriptor,
  WebServiceDescriptor,
} from '../../../client/index.ts';
import type {
  KubernetesInstallation,
  ProvisionedDatabases,
} from '../../../control-plane/kubernetes/manifests/installation.ts';
import type { DesiredService } from '../../../control-plane/orchestration/orchestrator.ts';

/** Databases as CloudNativePG makes them. */
export const CLOUD_NATIVE_PG: ProvisionedDatabases = {
  apiVersion: 'postgresql.cnpg.io/v1',
  kind: 'Cluster',
  spec: { instances: 2, storage: { size: '10Gi' } },
  nameLengthMax: 50,
  secretSuffix: '-app',
  urlKey: 'uri',
  authority: { secretSuffix: '-ca', key: 'ca.crt' },
};

const INSTALLATION: KubernetesInstallation = {
  id: '6c1f8a52-3d0e-4b77-9f24-a1d5c0e83b96',
  image: 'registry.example/svc:0.1.0',
  namespace: 'svc-platform',
  pullSecrets: [],
  registry: undefined,
  baseDomain: 'apps.example.org',
  trustDomain: 'example.org',
  gatewayId: 'spiffe://example.org/ns/svc-platform/sa/gateway',
  ingress: { className: 'nginx', annotations: {}, certificates: 'controller' },
  journals: { storageClass: undefined, size: '10Gi' },
  databases: undefined,
  remotingFrom: 'cluster',
  tokens: undefined,
  drainMs: 10_000,
  defaultResources: { cpu: '100m', memory: '512Mi' },
  sidecarResources: { cpu: '100m', memory: '512Mi' },
  cluster: { disruptionBudgets: 'policy/v1', hasSleepAction: true },
};

export function installation(more: Partial<KubernetesInstallation> = {}): KubernetesInstallation {
  return { ...INSTALLATION, ...more };
}

export function desiredService(
  descriptor: ServiceDescriptor,
  more: Partial<DesiredService> = {},
): DesiredService {
  return {
    kind: 'desired',
    key: { project: 'shop', service: descriptor.name },
    incarnation: 'k3v9',
    generation: 7,
    appliedGeneration: 5,
    descriptor,
    instances: descriptor.instances ?? 1,
    isPaused: false,
    isSuspended: false,
    exposedHostname: undefined,
    hostnames: descriptor.hostnames ?? [],
    ...more,
  };
}

/** Descriptors of every hosting. */
export const EMBEDDED: EmbeddedServiceDescriptor = {
  name: 'flags',
  image: 'registry.example/flags:1',
};
export const PROCESS: ProcessServiceDescriptor = {
  name: 'cart',
  image: 'registry.example/cart:1',
  hosting: 'process',
  protocol: 'svc/1',
};
export const WASM: WasmServiceDescriptor = {
  name: 'counter',
  image: `registry.example/counter@sha256:${'1f'.repeat(32)}`,
  hosting: 'wasm',
  protocol: '0.2.0',
};
export const WEB: WebServiceDescriptor = {
  name: 'site',
  image: 'registry.example/site:1',
  hosting: 'process',
  protocol: 'http/1.1',
};
export const EVERY_HOSTING: readonly ServiceDescriptor[] = [EMBEDDED, PROCESS, WASM, WEB];
