// PodSettings: what all pods of services have in common: rights, times, and how values are written.
//
// Invariants
// - A pod has no token of the cluster, no right of root and no writable root.
// - A value that a member has written is a value: Kubernetes expands nothing in it.
import type { Resources } from '@svc/client';
import type { KubernetesInstallation, ResourceAmounts } from './installation.ts';
import { isInDatabase, type JournalStorage } from './journal-storage.ts';
import type { JsonObject } from './manifest.ts';

/** The user of the image of svc, and the group to which volumes belong. */
export const PLATFORM_USER = 1000;
/** Time between the end of a pod's readiness and SIGTERM, in which others learn that it ends, in seconds. */
export const PRE_STOP_S = 5;
/** Time that a pod has beyond its own times before it is killed, in seconds. */
const GRACE_MARGIN_S = 5;

/** Rights of all containers of a pod. */
export const POD_SECURITY: JsonObject = {
  runAsNonRoot: true,
  fsGroup: PLATFORM_USER,
  fsGroupChangePolicy: 'OnRootMismatch',
  seccompProfile: { type: 'RuntimeDefault' },
};

/** Rights of a member's container: its user is that of its image. */
export const PROGRAM_SECURITY: JsonObject = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  privileged: false,
  readOnlyRootFilesystem: true,
  runAsNonRoot: true,
};

/** Rights of a container of the platform. */
export const PLATFORM_SECURITY: JsonObject = {
  ...PROGRAM_SECURITY,
  runAsUser: PLATFORM_USER,
  runAsGroup: PLATFORM_USER,
};

/** Without a message of its own, the last lines of a container that has failed are its status, so that members see why it has ended. */
export const TERMINATION_MESSAGE = 'FallbackToLogsOnError';

type Times = Pick<KubernetesInstallation, 'drainMs'>;

/** Returns the seconds that a runtime or a proxy needs at most from SIGTERM to its end: with a database it hands its entities over first. */
export function stopSeconds({ drainMs }: Times, storage: JournalStorage): number {
  return Math.ceil(drainMs / 1000) * (isInDatabase(storage) ? 2 : 1);
}

/** Returns the grace period of a pod, in seconds. */
export function graceSeconds(times: Times, storage: JournalStorage): number {
  return PRE_STOP_S + stopSeconds(times, storage) + GRACE_MARGIN_S;
}

/** Returns the hook by which a container waits before it gets SIGTERM. */
export function waitBeforeStop(
  { cluster }: Pick<KubernetesInstallation, 'cluster'>,
  seconds: number,
): JsonObject {
  const wait: JsonObject = cluster.hasSleepAction
    ? { sleep: { seconds } }
    : { exec: { command: ['sleep', String(seconds)] } };
  return { preStop: wait };
}

/** Returns the readiness probe of a port. There is no liveness probe: a process ends when it cannot go on. */
export function readiness(port: string): JsonObject {
  return {
    httpGet: { path: '/ready', port },
    periodSeconds: 2,
    timeoutSeconds: 1,
    failureThreshold: 3,
  };
}

/** Returns variables as a container has them, sorted by their names. */
export function variableList(variables: Readonly<Record<string, string>>): readonly JsonObject[] {
  return sortedEntries(variables).map(([name, value]) => ({ name, value: literal(value) }));
}

/** Kubernetes replaces `$(NAME)` in values and arguments, and `$$` by one dollar sign. */
export function literal(value: string): string {
  return value.replaceAll('$', () => '$$');
}

/** Returns the entries of a record in the order of their names. */
export function sortedEntries<Value>(
  record: Readonly<Record<string, Value>>,
): readonly (readonly [string, Value])[] {
  return Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1));
}

/**
 * Returns the resources of a container. What is not declared is requested, and of it only memory is limited: a processor that nobody else
 * uses may be used.
 */
export function containerResources(
  declared: Resources | undefined,
  defaults: ResourceAmounts,
): JsonObject {
  const cpu = declared?.cpu ?? defaults.cpu;
  const memory = declared?.memory ?? defaults.memory;
  return {
    requests: { cpu, memory },
    limits: { ...(declared?.cpu === undefined ? {} : { cpu }), memory },
  };
}

/** Resources of a container that only copies a file. */
export const COPY_RESOURCES: JsonObject = {
  requests: { cpu: '10m', memory: '32Mi' },
  limits: { memory: '32Mi' },
};
