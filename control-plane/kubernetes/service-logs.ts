// ServiceLogs: the recent output of the pods of a service. An instance is a pod, and its output that of the member's own program: that of the program
// beside a runtime or a proxy, and that of the runtime where it is the program.
import type { InstanceLogs, LogQuery } from '../orchestration/orchestrator.ts';
import type { KubeClient } from './api/kube-client.ts';
import { readPodLogs } from './api/pod-logs.ts';
import type { FoundPod } from './found-objects.ts';
import { CONTAINER_NAMES } from './manifests/object-names.ts';
import { hasEnded } from './pod-states.ts';

/** Pods that are read at the same time. */
const AT_ONCE = 8;

/** Returns the output of each pod, or why it cannot be read. Rejects with the reason of the signal alone. */
export async function readServiceLogs(
  client: KubeClient,
  pods: readonly FoundPod[],
  query: LogQuery,
  signal: AbortSignal,
): Promise<readonly InstanceLogs[]> {
  const wanted = pods
    .filter((pod) => !hasEnded(pod))
    .filter(({ metadata: { name } }) => query.instance === undefined || query.instance === name)
    .toSorted(({ metadata: one }, { metadata: other }) => (one.name < other.name ? -1 : 1));
  const bytesMax = Math.floor(query.bytesMax / Math.max(1, wanted.length));
  const read: InstanceLogs[] = [];
  for (let from = 0; from < wanted.length; from += AT_ONCE) {
    const some = wanted.slice(from, from + AT_ONCE);
    read.push(
      ...(await Promise.all(
        some.map((pod) => logsOfPod(client, pod, { ...query, bytesMax }, signal)),
      )),
    );
  }
  return read;
}

async function logsOfPod(
  client: KubeClient,
  { metadata, spec }: FoundPod,
  query: LogQuery,
  signal: AbortSignal,
): Promise<InstanceLogs> {
  const { name: instance, namespace } = metadata;
  const names = (spec?.containers ?? []).map(({ name }) => name);
  const container =
    [CONTAINER_NAMES.program, CONTAINER_NAMES.runtime].find((name) => names.includes(name)) ??
    names[0];
  try {
    if (namespace === undefined || container === undefined)
      throw new Error('the pod has no container');
    const { previous, tail, sinceS, bytesMax } = query;
    const output = await readPodLogs(
      client,
      { namespace, pod: instance, container, previous, tail, sinceS, bytesMax },
      signal,
    );
    return { instance, output, error: null };
  } catch (error) {
    signal.throwIfAborted();
    return { instance, output: '', error: (error as Error).message };
  }
}
