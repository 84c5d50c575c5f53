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

/** The end of an init container that has done its work. */
const DONE: ContainerReport = { kind: 'ended', end: { exitCode: 0, reason: 'Completed' } };
/** The state of the other containers before that. */
const INITIALIZING: ContainerReport = { kind: 'waiting', reason: 'PodInitializing' };

/**
 * Returns the status of a pod whose containers are as `reportOf` says. An init container of which it says nothing has done its work; while
 * one has not, the others wait.
 */
export function podStatus(
  pod: KubeObject,
  reportOf: (container: string) => ContainerReport | undefined,
  { podAddress, nodeAddress, nowMs }: PodAddress,
): JsonObject {
  const now = new Date(nowMs).toISOString().replace(/\.\d+Z$/, 'Z');
  const { containers, initContainers = [] } = pod['spec'] as {
    readonly containers: readonly Container[];
    readonly initContainers?: readonly Container[];
  };
  const initReports = initContainers.map(({ name }) => reportOf(name) ?? DONE);
  const isInitialized = initReports.every(hasDone);
  const reports = containers.map(({ name }) => {
    if (!isInitialized) return INITIALIZING;
    const report = reportOf(name);
    if (report === undefined) throw new Error(`the script says nothing of the container ${name}`);
    return report;
  });
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
      condition('Initialized', isInitialized),
      condition('PodScheduled', true),
      condition('ContainersReady', isReady),
      condition('Ready', isReady),
    ],
    initContainerStatuses: initContainers.map(({ name, image }, at) => ({
      ...identity(name, image),
      ready: hasDone(initReports[at]!),
      restartCount: initReports[at]!.restarts ?? 0,
      state: stateOf(initReports[at]!, now),
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

function hasDone(report: ContainerReport): boolean {
  return report.kind === 'ended' && report.end.exitCode === 0;
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
