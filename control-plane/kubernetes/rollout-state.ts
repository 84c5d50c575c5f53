// RolloutState: how far the rollout of a workload is, from what the controllers of the cluster have written. Nothing of it is stored.
//
// Invariants
// S1  A rollout that is complete stays so, whatever becomes of its pods, until the pods' template changes: it is read from what the controllers
//     keep, which are the condition Progressing of a Deployment and the current revision of a StatefulSet.
// S2  What the controllers have written about another template does not count. The status of a Deployment can be of its present generation while its
//     condition is still of the ReplicaSet before: so the condition has to name the ReplicaSet of the present template.
import type { Rollout } from '../orchestration/orchestrator.ts';
import {
  type FoundCondition,
  type FoundPod,
  type FoundRevision,
  type FoundService,
  type FoundTemplate,
  type FoundWorkload,
  latestMs,
} from './found-objects.ts';
import {
  FIELD_MANAGER,
  GENERATION_ANNOTATION,
  INCARNATION_ANNOTATION,
  STARTED_ANNOTATION,
  TEMPLATE_ANNOTATION,
} from './manifests/object-names.ts';
import { isServing, troublesOf } from './pod-states.ts';

const COMPLETE = 'NewReplicaSetAvailable';
const LATE = 'ProgressDeadlineExceeded';
/** Annotations that make templates differ. Those of an earlier version of svc have no digest, and are of one template if neither has one. */
const IDENTIFYING = [
  INCARNATION_ANNOTATION,
  GENERATION_ANNOTATION,
  STARTED_ANNOTATION,
  TEMPLATE_ANNOTATION,
];

export interface WantedPods {
  /** How many there should be. */
  readonly wanted: number;
  /** Those of the present generation and template. */
  readonly updated: readonly FoundPod[];
}

export function rolloutOf(
  workload: FoundWorkload,
  found: FoundService,
  { wanted, updated }: WantedPods,
): Rollout {
  const { metadata, spec, status } = workload;
  const progressing = (...times: readonly unknown[]): Rollout => ({
    kind: 'progressing',
    sinceMs: latestMs([appliedTime(workload), ...times]),
  });
  if (metadata.deletionTimestamp !== undefined || found.workloads.length > 1)
    return progressing(metadata.deletionTimestamp);
  const isStale = (status?.observedGeneration ?? 0) < (metadata.generation ?? 0);
  const isScaled = (spec?.replicas ?? 0) > 0 === wanted > 0;
  if (isStale || !isScaled) return progressing();
  if (wanted === 0)
    return found.pods.some((pod) => isServing(pod)) ? progressing() : { kind: 'complete' };
  return workload.kind === 'StatefulSet'
    ? ofStatefulSet(workload, found.revisions, updated, progressing)
    : ofDeployment(workload, found.revisions, updated, progressing);
}

type Progressing = (...times: readonly unknown[]) => Rollout;

function ofDeployment(
  { spec, status }: FoundWorkload,
  revisions: readonly FoundRevision[],
  pods: readonly FoundPod[],
  progressing: Progressing,
): Rollout {
  const condition = status?.conditions?.find(({ type }) => type === 'Progressing');
  const present = revisions.find((revision) =>
    isSameTemplate(revision.spec?.template, spec?.template),
  );
  if (condition === undefined || !isAbout(condition, present)) return progressing();
  if (condition.status === 'True' && condition.reason === COMPLETE) return { kind: 'complete' };
  if (condition.status !== 'False' || condition.reason !== LATE)
    return progressing(condition.lastUpdateTime);
  const words = [troublesOf(pods), condition.message].filter((text) => text !== undefined);
  return { kind: 'failed', reason: words.join('; ') };
}

/**
 * A StatefulSet has a current revision until every pod is of the updated one and ready, and then the updated one is the current one. That it was never
 * so with a first revision is why a StatefulSet begins with no pod (workload-start.ts).
 */
function ofStatefulSet(
  { status }: FoundWorkload,
  revisions: readonly FoundRevision[],
  pods: readonly FoundPod[],
  progressing: Progressing,
): Rollout {
  const { currentRevision, updateRevision } = status ?? {};
  if (updateRevision !== undefined && currentRevision === updateRevision)
    return { kind: 'complete' };
  const updated = revisions.find(({ metadata }) => metadata.name === updateRevision);
  const ready = pods
    .filter((pod) => isServing(pod))
    .flatMap((pod) => pod.status?.conditions ?? [])
    .filter(({ type }) => type === 'Ready');
  return progressing(
    updated?.metadata.creationTimestamp,
    ...ready.map(({ lastTransitionTime }) => lastTransitionTime),
  );
}

/** Conditions name their ReplicaSet: `ReplicaSet "cart-5f7" has successfully progressed.` */
function isAbout({ message }: FoundCondition, present: FoundRevision | undefined): boolean {
  return present !== undefined && (message ?? '').includes(`"${present.metadata.name}"`);
}

function isSameTemplate(one: FoundTemplate | undefined, other: FoundTemplate | undefined): boolean {
  const [first, second] = [one, other].map((template) => template?.metadata?.annotations ?? {});
  return IDENTIFYING.every((name) => first![name] === second![name]);
}

/** Returns when the control plane last changed the workload. */
function appliedTime({ metadata }: FoundWorkload): string | undefined {
  const entries = (metadata['managedFields'] ?? []) as readonly {
    readonly manager?: string;
    readonly operation?: string;
    readonly time?: string;
  }[];
  const own = entries.find(
    ({ manager, operation }) => manager === FIELD_MANAGER && operation === 'Apply',
  );
  return own?.time ?? metadata.creationTimestamp;
}
