// FoundObjects: what the API server has of a service, with the fields that the driver reads. The server has checked their types; every one
// may be missing.
import type { KubeObject } from './api/kube-object.ts';

export interface FoundService {
  /** The Deployment, the StatefulSet, or both while one takes the other's place. */
  readonly workloads: readonly FoundWorkload[];
  /** ReplicaSets of a Deployment, ControllerRevisions of a StatefulSet. */
  readonly revisions: readonly FoundRevision[];
  readonly pods: readonly FoundPod[];
  /** Further objects of the service. They are looked for only if there is neither a workload nor a pod. */
  readonly others: readonly KubeObject[];
  /** Problem of a certificate that the operator makes. */
  readonly identityProblem?: string | undefined;
  /** Why the service has not started where no status says so; undefined: nobody says so, or nothing waits. */
  readonly waiting?: string | undefined;
}

export interface FoundWorkload extends KubeObject {
  readonly spec?: {
    readonly replicas?: number;
    readonly template?: FoundTemplate;
    readonly volumeClaimTemplates?: readonly object[];
  };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly conditions?: readonly FoundCondition[];
    /** Names of ControllerRevisions. */
    readonly currentRevision?: string;
    readonly updateRevision?: string;
  };
}

export interface FoundTemplate {
  readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> };
}

export interface FoundRevision extends KubeObject {
  /** A ReplicaSet has the template of its pods. */
  readonly spec?: { readonly template?: FoundTemplate };
}

export interface FoundPod extends KubeObject {
  readonly spec?: { readonly containers?: readonly FoundContainer[] };
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly FoundCondition[];
    readonly initContainerStatuses?: readonly ContainerStatus[];
    readonly containerStatuses?: readonly ContainerStatus[];
  };
}

export interface FoundContainer {
  readonly name: string;
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
}

export interface FoundCondition {
  readonly type?: string;
  readonly status?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastUpdateTime?: string;
  readonly lastTransitionTime?: string;
}

export interface ContainerStatus {
  readonly name: string;
  readonly state?: ContainerState;
  readonly lastState?: ContainerState;
}

export interface ContainerState {
  readonly running?: object;
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly terminated?: {
    readonly reason?: string;
    readonly exitCode?: number;
    /** Message of the container, or the end of its output. */
    readonly message?: string;
  };
}

/** Returns the condition of a type if it has the status. */
export function conditionOf(
  conditions: readonly FoundCondition[] | undefined,
  type: string,
  status: 'True' | 'False',
): FoundCondition | undefined {
  return conditions?.find((each) => each.type === type && each.status === status);
}

/** Returns a time of the API in milliseconds since 1970; undefined if there is none. */
export function timeMs(text: unknown): number | undefined {
  const ms = typeof text === 'string' ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}

/** Returns the latest of the times; 0 if there is none. */
export function latestMs(texts: readonly unknown[]): number {
  return Math.max(0, ...texts.map((text) => timeMs(text) ?? 0));
}
