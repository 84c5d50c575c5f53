// WorkloadObservation: what there is of a service, as a pure function of the objects that the API server has.
import { printable } from '@svc/kit/printable';
import type { ServiceKey } from '@svc/client';
import type { Observation, Workload } from '../orchestration/orchestrator.ts';
import {
  conditionOf,
  type FoundPod,
  type FoundService,
  type FoundWorkload,
  latestMs,
} from './found-objects.ts';
import type { JournalStorage } from './manifests/journal-storage.ts';
import {
  GENERATION_ANNOTATION,
  INCARNATION_ANNOTATION,
  INSTANCES_ANNOTATION,
  JOURNAL_ANNOTATION,
  TEMPLATE_ANNOTATION,
} from './manifests/object-names.ts';
import { hasEnded, isServing, troublesOf } from './pod-states.ts';
import { rolloutOf } from './rollout-state.ts';

/** Incarnation of what does not say which one it is of. No service has it: theirs are random. */
export const UNKNOWN_INCARNATION = 'unknown';
const DETAIL_LENGTH_MAX = 2000;
/** The database in the status of a service, by its journal. One on a volume is provisioned as well: the platform has made it. */
const DATABASES: ReadonlyMap<string, string> = new Map<JournalStorage, string>([
  ['provisioned', 'provisioned'],
  ['supplied', 'supplied'],
  ['volume', 'provisioned'],
]);

type Annotations = Readonly<Record<string, string>>;

/** Returns `none` only if there is neither an object nor a pod. */
export function observationOf(key: ServiceKey, found: FoundService): Observation {
  const workload = presentWorkload(found.workloads);
  if (workload !== undefined) return ofWorkload(key, workload, found);
  const { pods, others } = found;
  return pods.length === 0 && others.length === 0 ? { kind: 'none', key } : ofRemains(key, found);
}

function ofWorkload(key: ServiceKey, workload: FoundWorkload, found: FoundService): Workload {
  const annotations: Annotations = {
    ...workload.spec?.template?.metadata?.annotations,
    ...workload.metadata.annotations,
  };
  const wanted = countIn(annotations, INSTANCES_ANNOTATION);
  const pods = found.pods.filter((pod) => !hasEnded(pod));
  const isUpdated = (pod: FoundPod) =>
    [INCARNATION_ANNOTATION, GENERATION_ANNOTATION, TEMPLATE_ANNOTATION].every(
      (name) => pod.metadata.annotations?.[name] === annotations[name],
    );
  const serving = pods.filter((pod) => isServing(pod));
  const updated = pods.filter(isUpdated);
  const troubles = [found.waiting, found.identityProblem];
  const detail = detailOf(workload, updated, troubles);
  const database = DATABASES.get(annotations[JOURNAL_ANNOTATION] ?? '');
  return {
    kind: 'workload',
    key,
    incarnation: annotations[INCARNATION_ANNOTATION] ?? UNKNOWN_INCARNATION,
    generation: countIn(annotations, GENERATION_ANNOTATION),
    wantedInstances: wanted,
    readyInstances: serving.length,
    updatedInstances: serving.filter(isUpdated).length,
    rollout: rolloutOf(workload, found, { wanted, updated }),
    ...(detail === undefined ? {} : { detail }),
    ...(database === undefined ? {} : { database }),
  };
}

/** Describes objects without a workload, which a deletion has left, or which were applied before it. */
function ofRemains(key: ServiceKey, { pods, others }: FoundService): Workload {
  const annotations = pods[0]?.metadata.annotations ?? {};
  const all = [...pods, ...others];
  const detail =
    pods.length > 0
      ? 'its instances are ending'
      : `there is no workload, but there are: ${others.map((one) => `${one.kind} ${one.metadata.name}`).join(', ')}`;
  return {
    kind: 'workload',
    key,
    incarnation: annotations[INCARNATION_ANNOTATION] ?? UNKNOWN_INCARNATION,
    generation: countIn(annotations, GENERATION_ANNOTATION),
    wantedInstances: 0,
    readyInstances: pods.filter((pod) => isServing(pod)).length,
    updatedInstances: 0,
    rollout: {
      kind: 'progressing',
      sinceMs: latestMs(
        all.flatMap(({ metadata }) => [metadata.creationTimestamp, metadata.deletionTimestamp]),
      ),
    },
    detail: bounded(detail),
  };
}

/** While one workload takes the place of another one, it is the newer one. */
function presentWorkload(workloads: readonly FoundWorkload[]): FoundWorkload | undefined {
  return workloads.toSorted(
    (one, other) =>
      latestMs([other.metadata.creationTimestamp]) - latestMs([one.metadata.creationTimestamp]),
  )[0];
}

/** `pods`: those of the present generation and template. */
function detailOf(
  { metadata, status }: FoundWorkload,
  pods: readonly FoundPod[],
  troubles: readonly (string | undefined)[],
): string | undefined {
  const failure = conditionOf(status?.conditions, 'ReplicaFailure', 'True');
  const texts = [
    ...(metadata.deletionTimestamp === undefined ? [] : ['it is being deleted']),
    ...(failure?.message === undefined ? [] : [failure.message]),
    troublesOf(pods),
    ...troubles,
  ].filter((text) => text !== undefined);
  return texts.length === 0 ? undefined : bounded(texts.join('; '));
}

function countIn(annotations: Annotations, name: string): number {
  const count = Number(annotations[name] ?? '');
  return Number.isSafeInteger(count) && count >= 0 ? count : 0;
}

function bounded(text: string): string {
  return printable(text.slice(0, DETAIL_LENGTH_MAX).toWellFormed()).slice(0, DETAIL_LENGTH_MAX);
}
