// ProgramContainer: the container of a member's own program, with the runtime in it, or beside a runtime or a proxy. All variables of the
// descriptor are its own, from a secret, and the platform's are over them. Beside a platform's container it has no port, no certificate and no data.
import {
  CALLING_PORT,
  COMPONENT_PORT_VARIABLE,
  COMPONENT_PROCESS_PORT,
  PORT_VARIABLE,
  PROCESS_PORT,
  SERVICES_URL_VARIABLE,
  type WebServiceDescriptor,
} from '@svc/client';
import type { DesiredService } from '../../orchestration/orchestrator.ts';
import type { KubernetesInstallation } from './installation.ts';
import { type JournalStorage, journalStorage } from './journal-storage.ts';
import type { JsonObject } from './manifest.ts';
import { CONTAINER_NAMES, envSecretName, PORT_NAMES } from './object-names.ts';
import { dataFiles, identityFiles, type PodFile, temporaryFiles } from './pod-files.ts';
import {
  containerResources,
  PRE_STOP_S,
  PROGRAM_SECURITY,
  readiness,
  stopSeconds,
  TERMINATION_MESSAGE,
  variableList,
  waitBeforeStop,
} from './pod-settings.ts';
import { runtimeVariables, serviceLimits } from './runtime-variables.ts';
import { containerPorts, podPorts } from './service-ports.ts';

/** A container with the volumes that it needs. */
export interface PodContainer {
  readonly container: JsonObject;
  readonly files: readonly PodFile[];
}

/** Returns the program that serves HTTP beside a proxy. */
export function webProgram(
  desired: DesiredService,
  descriptor: WebServiceDescriptor,
  installation: KubernetesInstallation,
): PodContainer {
  const variables = {
    [PORT_VARIABLE]: String(descriptor.processPort ?? PROCESS_PORT),
    [SERVICES_URL_VARIABLE]: `http://127.0.0.1:${CALLING_PORT}`,
  };
  return programContainer(desired, installation, {
    variables,
    files: [temporaryFiles()],
    waitS: PRE_STOP_S,
  });
}

/** Returns the program that holds components beside a runtime. It gets SIGTERM once the runtime has ended: until then requests are in it. */
export function componentProgram(
  desired: DesiredService,
  installation: KubernetesInstallation,
): PodContainer {
  const storage: JournalStorage = journalStorage(desired.descriptor, installation);
  return programContainer(desired, installation, {
    variables: { [COMPONENT_PORT_VARIABLE]: String(COMPONENT_PROCESS_PORT) },
    files: [temporaryFiles()],
    waitS: PRE_STOP_S + stopSeconds(installation, storage),
  });
}

/** Returns the program with the runtime in it. */
export function embeddedProgram(
  desired: DesiredService,
  installation: KubernetesInstallation,
): PodContainer {
  const { container, files } = programContainer(desired, installation, {
    variables: {
      ...serviceLimits(desired, installation.defaultResources).variables,
      ...runtimeVariables(desired, installation),
      SVC_LOG: 'json',
    },
    files: [dataFiles('volume'), identityFiles(desired), temporaryFiles()],
    waitS: PRE_STOP_S,
  });
  const ports = podPorts(desired.descriptor, installation.remotingFrom);
  return {
    container: {
      ...container,
      ports: containerPorts(ports),
      readinessProbe: readiness(PORT_NAMES.management),
    },
    files,
  };
}

interface ProgramParts {
  /** Variables of the platform. */
  readonly variables: Readonly<Record<string, string>>;
  readonly files: readonly PodFile[];
  /** Seconds before it gets SIGTERM. */
  readonly waitS: number;
}

function programContainer(
  { key, descriptor }: DesiredService,
  installation: KubernetesInstallation,
  { variables, files, waitS }: ProgramParts,
): PodContainer {
  const hasVariables = Object.keys(descriptor.env ?? {}).length > 0;
  return {
    container: {
      name: CONTAINER_NAMES.program,
      image: descriptor.image,
      imagePullPolicy: pullPolicy(descriptor.image),
      env: variableList(variables),
      ...(hasVariables ? { envFrom: [{ secretRef: { name: envSecretName(key) } }] } : {}),
      lifecycle: waitBeforeStop(installation, waitS),
      resources: containerResources(descriptor.resources, installation.defaultResources),
      securityContext: PROGRAM_SECURITY,
      terminationMessagePolicy: TERMINATION_MESSAGE,
      volumeMounts: files.map(({ mount }) => mount),
    },
    files,
  };
}

/** A digest names the same image for ever; a tag is resolved for each pod. */
export function pullPolicy(image: string): 'Always' | 'IfNotPresent' {
  return image.includes('@') ? 'IfNotPresent' : 'Always';
}
