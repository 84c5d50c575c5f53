// ContainerReport: the state of a container that a test scripts, and the status of a pod that a kubelet would report for it.
import type { KubeObject } from '../../../control-plane/kubernetes/api/kube-object.ts';
import type { JsonObject } from '../../../control-plane/kubernetes/api/kube-transport.ts';

export type ContainerReport = {
  /** Restarts so far. */
  readonly restarts?: number;
  /** How the container ended before its last restart. */
  readonly lastEnd?: ContainerEnd;
} & (
  | { readonly kind: 'ready' }
  /** It runs, and its readiness probe fails. */
  | { readonly kind: 'not-ready' }
  /** Such as `ImagePullBackOff` or `CrashLoopBackOff`. */
  | { readonly kind: 'waiting'; readonly reason: string; readonly message?: string }
  | { readonly kind: 'ended'; readonly end: ContainerEnd }
);

export interface ContainerEnd {
  readonly exitCode: number;
  /** Such as `Error` or `OOMKilled`. */
  readonly reason: string;
  readonly message?: string;
}

export interface PodAddress {
  readonly podAddress: string;
  readonly nodeAddress: string;
  readonly nowMs: number;
}

interface Container {
  readonly name: string;
  readonly image: string;
}

/** Returns the status of a pod whose containers are as `reportOf` says. */
export function podStatus(
  pod: KubeObject,
  reportOf: (container: string) => ContainerReport,
  { podAddress, nodeAddress, nowMs }: PodAddress,
): JsonObject {
  const now = new Date(nowMs).toISOString().replace(/\.\d+Z$/, 'Z');
  const { containers, initContainers = [] } = pod['spec'] as {
    readonly containers: readonly Container[];
    readonly initContainers?: readonly Container[];
  };
  const reports = containers.map(({ name }) => reportOf(name));
  const isReady = reports.every(({ kind }) => kind === 'ready');
  const isRunning = reports.some(({ kind }) => kind !== 'waiting');
  const condition = (type: string, holds: boolean) => ({
    type,
    status: holds ? 'True' : 'False',
    ...(holds ? {} : { reason: 'ContainersNotReady' }),
    lastTransitionTime: now,
  });
  return {
    phase: isRunning ? 'Running' : 'Pending',
    podIP: podAddress,
    podIPs: [{ ip: podAddress }],
    hostIP: nodeAddress,
    startTime: now,
    conditions: [
      condition('Initialized', true),
      condition('PodScheduled', true),
      condition('ContainersReady', isReady),
      condition('Ready', isReady),
    ],
    initContainerStatuses: initContainers.map(({ name, image }) => ({
      ...identity(name, image),
      ready: true,
      restartCount: 0,
      state: { terminated: endedState({ exitCode: 0, reason: 'Completed' }, now) },
    })),
    containerStatuses: containers.map(({ name, image }, at) => {
      const report = reports[at]!;
      return {
        ...identity(name, image),
        ready: report.kind === 'ready',
        started: report.kind === 'ready' || report.kind === 'not-ready',
        restartCount: report.restarts ?? 0,
        state: stateOf(report, now),
        lastState:
          report.lastEnd === undefined ? {} : { terminated: endedState(report.lastEnd, now) },
      };
    }),
  };
}

function identity(name: string, image: string): JsonObject {
  return { name, image, imageID: `scripted://${image}`, containerID: `scripted://${name}` };
}

function stateOf(report: ContainerReport, now: string): JsonObject {
  if (report.kind === 'ended') return { terminated: endedState(report.end, now) };
  if (report.kind !== 'waiting') return { running: { startedAt: now } };
  const { reason, message } = report;
  return { waiting: { reason, ...(message === undefined ? {} : { message }) } };
}

function endedState({ exitCode, reason, message }: ContainerEnd, now: string): JsonObject {
  return {
    exitCode,
    reason,
    ...(message === undefined ? {} : { message }),
    startedAt: now,
    finishedAt: now,
  };
}
