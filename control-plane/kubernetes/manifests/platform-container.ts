// PlatformContainer: the containers of the platform's own image in the pods of services: the runtime of a module, the runtime beside a
// process, and the proxy beside a web-hosted one.
import {
  CALLING_PORT,
  COMPONENT_PROCESS_PORT,
  HTTP_PORT,
  PROCESS_PORT,
  READINESS_PORT,
  type WebServiceDescriptor,
} from '@svc/client';
import type { DesiredService } from '../../orchestration/orchestrator.ts';
import { proxyDeclarations } from '../../orchestration/proxy-declarations.ts';
import type { RuntimeLimits } from '../../orchestration/runtime-limits.ts';
import type { KubernetesInstallation } from './installation.ts';
import { isInDatabase, journalStorage } from './journal-storage.ts';
import type { JsonObject } from './manifest.ts';
import { CONTAINER_NAMES, PORT_NAMES } from './object-names.ts';
import {
  configurationFiles,
  databaseFiles,
  dataFiles,
  identityFiles,
  moduleFiles,
  type PodFile,
  projectSecretFiles,
} from './pod-files.ts';
import {
  containerResources,
  COPY_RESOURCES,
  PLATFORM_SECURITY,
  PRE_STOP_S,
  readiness,
  TERMINATION_MESSAGE,
  variableList,
  waitBeforeStop,
} from './pod-settings.ts';
import { type PodContainer, pullPolicy } from './program-container.ts';
import {
  hasConfiguration,
  identityVariables,
  platformRuntimeEnvironment,
  serviceLimits,
  sidecarLimits,
} from './runtime-variables.ts';
import { containerPorts, podPorts } from './service-ports.ts';

const RUNTIME_COMMAND = ['svc', 'run', '--deployed'];
const PROXY_COMMAND = ['svc', 'proxy'];

/** Returns the runtime of a module, which finds it where its image has put it. */
export function moduleRuntime(
  desired: DesiredService,
  installation: KubernetesInstallation,
): PodContainer {
  return runtimeContainer(desired, installation, {
    command: RUNTIME_COMMAND,
    limits: serviceLimits(desired, installation.defaultResources),
    resources: containerResources(desired.descriptor.resources, installation.defaultResources),
    files: [moduleFiles()],
  });
}

/** Returns the container that copies a module out of its image, by the command of that image, and ends. */
export function moduleCopy({ descriptor: { image } }: DesiredService): JsonObject {
  return {
    name: CONTAINER_NAMES.module,
    image,
    imagePullPolicy: pullPolicy(image),
    resources: COPY_RESOURCES,
    securityContext: PLATFORM_SECURITY,
    terminationMessagePolicy: TERMINATION_MESSAGE,
    volumeMounts: [moduleFiles().writable],
  };
}

/** Returns the runtime beside a process with components. */
export function processRuntime(
  desired: DesiredService,
  installation: KubernetesInstallation,
): PodContainer {
  const { sidecarResources } = installation;
  return runtimeContainer(desired, installation, {
    command: [...RUNTIME_COMMAND, '--process', `127.0.0.1:${COMPONENT_PROCESS_PORT}`],
    limits: sidecarLimits(desired, sidecarResources),
    resources: containerResources(undefined, sidecarResources),
    files: [],
  });
}

/** Returns the proxy beside a web-hosted process. */
export function proxyContainer(
  desired: DesiredService,
  descriptor: WebServiceDescriptor,
  installation: KubernetesInstallation,
): PodContainer {
  const { baseDomain, drainMs, sidecarResources } = installation;
  const files = [identityFiles(desired)];
  return {
    container: {
      ...platformContainer(CONTAINER_NAMES.proxy, PROXY_COMMAND, desired, installation),
      env: variableList({
        ...identityVariables(desired, installation),
        SVC_LOG: 'json',
        SVC_PROXY_PORT: String(descriptor.port ?? HTTP_PORT),
        SVC_PROXY_PROCESS_PORT: String(descriptor.processPort ?? PROCESS_PORT),
        SVC_PROXY_READINESS_PORT: String(READINESS_PORT),
        SVC_PROXY_CALLING_PORT: String(CALLING_PORT),
        SVC_PROXY_STOP_TIMEOUT_MS: String(drainMs),
        ...proxyDeclarations(descriptor),
        ...(baseDomain === undefined ? {} : { SVC_PROXY_BASE_DOMAIN: baseDomain }),
      }),
      readinessProbe: readiness(PORT_NAMES.readiness),
      resources: containerResources(undefined, sidecarResources),
      volumeMounts: files.map(({ mount }) => mount),
    },
    files,
  };
}

interface RuntimeParts {
  readonly command: readonly string[];
  readonly limits: RuntimeLimits;
  readonly resources: JsonObject;
  /** Files beside those of every runtime. */
  readonly files: readonly PodFile[];
}

function runtimeContainer(
  desired: DesiredService,
  installation: KubernetesInstallation,
  { command, limits, resources, files: own }: RuntimeParts,
): PodContainer {
  const storage = journalStorage(desired.descriptor, installation);
  const hasDatabase = isInDatabase(storage);
  const files = [
    dataFiles(storage),
    identityFiles(desired),
    projectSecretFiles(),
    ...(hasConfiguration(desired) ? [configurationFiles(desired)] : []),
    ...(hasDatabase ? [databaseFiles(desired, installation)] : []),
    ...own,
  ];
  return {
    container: {
      ...platformContainer(CONTAINER_NAMES.runtime, command, desired, installation),
      env: platformRuntimeEnvironment(desired, installation, {
        storage,
        limits,
      }),
      readinessProbe: readiness(PORT_NAMES.management),
      resources,
      volumeMounts: files.map(({ mount }) => mount),
    },
    files,
  };
}

function platformContainer(
  name: string,
  command: readonly string[],
  { descriptor }: DesiredService,
  installation: KubernetesInstallation,
): JsonObject {
  return {
    name,
    image: installation.image,
    imagePullPolicy: 'IfNotPresent',
    command,
    lifecycle: waitBeforeStop(installation, PRE_STOP_S),
    ports: containerPorts(podPorts(descriptor, installation.remotingFrom)),
    securityContext: PLATFORM_SECURITY,
    terminationMessagePolicy: TERMINATION_MESSAGE,
  };
}
