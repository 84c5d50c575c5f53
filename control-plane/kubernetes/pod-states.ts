// PodStates: whether the pods of a service serve, and what keeps them from it, in the words of the cluster.
import { lastLineIn } from '../orchestration/last-line.ts';
import { CONTAINER_NAMES } from './manifests/object-names.ts';
import {
  conditionOf,
  type ContainerState,
  type ContainerStatus,
  type FoundPod,
} from './found-objects.ts';

/** Reasons to wait that every container has while it starts. */
const STARTING: ReadonlySet<string | undefined> = new Set([
  undefined,
  'ContainerCreating',
  'PodInitializing',
]);
const ENDED: ReadonlySet<string | undefined> = new Set(['Succeeded', 'Failed']);
/** The variable with the port at which the proxy reaches its process. */
const PROCESS_PORT_VARIABLE = 'SVC_PROXY_PROCESS_PORT';
/** Different reasons that are quoted. */
const TROUBLES_MAX = 3;
/** A container that was started too often waits for this reason. */
const BACK_OFF = 'CrashLoopBackOff';
const LINE_CHARACTERS_MAX = 1000;

/** Whether the pod is ready, and not being deleted. The counts in the status of a Deployment lag behind its pods. */
export function isServing({ metadata, status }: FoundPod): boolean {
  return (
    metadata.deletionTimestamp === undefined &&
    conditionOf(status?.conditions, 'Ready', 'True') !== undefined
  );
}

/** Whether the pod will never run again, such as one that was evicted. Another one has taken its place. */
export function hasEnded({ status }: FoundPod): boolean {
  return ENDED.has(status?.phase);
}

/** Returns why pods do not become ready, each reason once; undefined if nothing is wrong that the cluster knows. */
export function troublesOf(pods: readonly FoundPod[]): string | undefined {
  const found = pods
    .filter((pod) => pod.metadata.deletionTimestamp === undefined && !isServing(pod))
    .flatMap((pod) => troublesOfPod(pod));
  const texts = [...new Set(found)].toSorted().slice(0, TROUBLES_MAX);
  return texts.length === 0 ? undefined : texts.join('; ');
}

/** Whether the status of a pod says why it is not ready. */
export function hasTroubles(pod: FoundPod): boolean {
  return troublesOfPod(pod).length > 0;
}

function troublesOfPod(pod: FoundPod): readonly string[] {
  const { status } = pod;
  const unscheduled = conditionOf(status?.conditions, 'PodScheduled', 'False');
  const containers = [
    ...(status?.initContainerStatuses ?? []),
    ...(status?.containerStatuses ?? []),
  ];
  const troubles = [
    ...(unscheduled === undefined
      ? []
      : [wordsOf(unscheduled.reason ?? 'Unschedulable', unscheduled.message)]),
    ...containers.flatMap((container) => troubleOf(container) ?? []),
  ];
  return troubles.length > 0 ? troubles : (notListening(pod) ?? []);
}

function troubleOf({ name, state, lastState }: ContainerStatus): string | undefined {
  const { reason, message } = state?.waiting ?? {};
  const before = endOf(lastState);
  // The message of this reason says when the pod of this name is started again, and nothing of why it ends.
  if (reason === BACK_OFF && before !== undefined)
    return `${BACK_OFF}: the container ${name} ends again and again: ${before}`;
  if (!STARTING.has(reason)) {
    const words = wordsOf(reason!, message);
    return before === undefined ? words : `${words} (${before})`;
  }
  const ended = endOf(state);
  if (ended !== undefined) return `the container ${name} has ended: ${ended}`;
  return before === undefined ? undefined : `the container ${name} was started again: ${before}`;
}

/** Returns how a container has failed, and its last line; undefined if it has not. */
function endOf(state: ContainerState | undefined): string | undefined {
  const { exitCode = 0, reason, message = '' } = state?.terminated ?? {};
  if (exitCode === 0) return undefined;
  const line = lastLineIn(message, LINE_CHARACTERS_MAX);
  return [
    ...(reason === undefined ? [] : [`${reason}, `]),
    `exit code ${exitCode}`,
    ...(line === undefined ? [] : [`; its last line: ${line}`]),
  ].join('');
}

/** A web-hosted process that runs, while its proxy finds nothing that listens. */
function notListening({ spec, status }: FoundPod): readonly string[] | undefined {
  const proxy = spec?.containers?.find(({ name }) => name === CONTAINER_NAMES.proxy);
  const port = proxy?.env?.find(({ name }) => name === PROCESS_PORT_VARIABLE)?.value;
  const statuses = status?.containerStatuses ?? [];
  const isRunning = statuses.length > 0 && statuses.every(({ state }) => state?.running);
  return port !== undefined && isRunning
    ? [`the process is not listening on port ${port}`]
    : undefined;
}

function wordsOf(reason: string, message: string | undefined): string {
  return message === undefined || message === '' ? reason : `${reason}: ${message}`;
}
