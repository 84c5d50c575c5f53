// ObservedObjects: objects of one service as an API server and its controllers write them.
import type {
  ContainerStatus,
  FoundCondition,
  FoundPod,
  FoundRevision,
  FoundService,
  FoundWorkload,
} from '../../../control-plane/kubernetes/found-objects.ts';
import { serviceLabels } from '../../../control-plane/kubernetes/manifests/object-names.ts';

export const CART = { project: 'web', service: 'cart' };
export const APPLIED = '2026-11-30T10:00:00Z';
const LATER = '2026-11-30T10:00:30Z';

type Annotations = Readonly<Record<string, string>>;

export interface Identity {
  readonly incarnation?: string;
  readonly generation?: number;
  readonly started?: string;
  /** Digest of the pods' template; undefined: an earlier version of svc has written it. */
  readonly template?: string | undefined;
}

function annotationsOf({
  incarnation = 'life1',
  generation = 1,
  started = APPLIED,
  template,
}: Identity): Annotations {
  return {
    'svc.dev/incarnation': incarnation,
    'svc.dev/generation': String(generation),
    'svc.dev/started': started,
    ...(template === undefined ? {} : { 'svc.dev/template': template }),
  };
}

export interface WorkloadFields extends Identity {
  readonly instances?: number;
  readonly replicas?: number;
  /** The generation of the object, which increases with each change of its fields. */
  readonly version?: number;
  readonly observedVersion?: number;
  readonly conditions?: readonly FoundCondition[];
  readonly currentRevision?: string;
  readonly updateRevision?: string;
  readonly deletionTimestamp?: string;
}

export function workload(
  kind: 'Deployment' | 'StatefulSet',
  fields: WorkloadFields = {},
): FoundWorkload {
  const { instances = 2, replicas = instances, version = 1, observedVersion = version } = fields;
  const { conditions, currentRevision, updateRevision, deletionTimestamp } = fields;
  const { 'svc.dev/started': _, 'svc.dev/template': __, ...annotations } = annotationsOf(fields);
  return {
    kind,
    metadata: {
      name: 'cart',
      namespace: 'svc-web',
      uid: `uid-of-${kind}`,
      generation: version,
      creationTimestamp: '2026-11-30T09:00:00Z',
      labels: serviceLabels(CART),
      annotations: { ...annotations, 'svc.dev/instances': String(instances) },
      managedFields: [
        { manager: 'kube-controller-manager', operation: 'Update', time: LATER },
        { manager: 'svc-control-plane', operation: 'Apply', time: APPLIED },
      ],
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    },
    spec: { replicas, template: { metadata: { annotations: annotationsOf(fields) } } },
    status: {
      observedGeneration: observedVersion,
      ...(conditions === undefined ? {} : { conditions }),
      ...(currentRevision === undefined ? {} : { currentRevision }),
      ...(updateRevision === undefined ? {} : { updateRevision }),
    },
  };
}

export function replicaSet(name: string, identity: Identity = {}): FoundRevision {
  return {
    metadata: { name, namespace: 'svc-web', labels: serviceLabels(CART) },
    spec: { template: { metadata: { annotations: annotationsOf(identity) } } },
  };
}

export function controllerRevision(name: string, creationTimestamp: string): FoundRevision {
  return { metadata: { name, namespace: 'svc-web', creationTimestamp } };
}

export const progressed = (name: string): FoundCondition => ({
  type: 'Progressing',
  status: 'True',
  reason: 'NewReplicaSetAvailable',
  message: `ReplicaSet "${name}" has successfully progressed.`,
  lastUpdateTime: LATER,
});

export const progressing = (name: string): FoundCondition => ({
  type: 'Progressing',
  status: 'True',
  reason: 'ReplicaSetUpdated',
  message: `ReplicaSet "${name}" is progressing.`,
  lastUpdateTime: LATER,
});

export const timedOut = (name: string): FoundCondition => ({
  type: 'Progressing',
  status: 'False',
  reason: 'ProgressDeadlineExceeded',
  message: `ReplicaSet "${name}" has timed out progressing.`,
  lastUpdateTime: LATER,
});

export interface PodFields extends Identity {
  readonly isReady?: boolean;
  readonly isDeleted?: boolean;
  readonly phase?: string;
  readonly containers?: readonly ContainerStatus[];
  readonly conditions?: readonly FoundCondition[];
  readonly spec?: FoundPod['spec'];
}

const RUNNING: ContainerStatus = { name: 'service', state: { running: {} }, lastState: {} };

export function pod(name: string, fields: PodFields = {}): FoundPod {
  const { isReady = true, isDeleted = false, phase = 'Running', conditions = [] } = fields;
  return {
    metadata: {
      name,
      namespace: 'svc-web',
      uid: `uid-of-${name}`,
      creationTimestamp: APPLIED,
      labels: serviceLabels(CART),
      annotations: annotationsOf(fields),
      ...(isDeleted ? { deletionTimestamp: LATER } : {}),
    },
    spec: fields.spec ?? { containers: [{ name: 'service' }] },
    status: {
      phase,
      conditions: [
        { type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime: LATER },
        ...conditions,
      ],
      containerStatuses: fields.containers ?? [RUNNING],
    },
  };
}

export function waiting(reason: string, message?: string): ContainerStatus {
  return {
    name: 'service',
    state: { waiting: { reason, ...(message === undefined ? {} : { message }) } },
    lastState: {},
  };
}

export function found(parts: Partial<FoundService>): FoundService {
  return { workloads: [], revisions: [], pods: [], others: [], ...parts };
}

export const ms = (text: string): number => Date.parse(text);
export const LATER_MS = ms(LATER);
