// KubernetesOrchestrator: runs the services of an installation in a Kubernetes cluster. It stores nothing: what is desired is in the objects that
// it applies, and what runs is what their controllers make of them.
//
// Invariants
// K1  Nothing is answered from memory unless every watch is live, and the API server has answered a request of the last `contactAgeMaxMs`. Otherwise the
//     server is asked, and the call rejects if it does not answer.
// K2  A service is remembered as applied only with a digest of how it should be, and each further apply begins by forgetting it. So an apply of
//     anything else, or one that has failed, is never taken for done.
// K3  An observation is remembered only while all that is wanted runs.
import { createHash } from 'node:crypto';
import { problemsText, projectNamespace } from '@svc/client';
import type { Problem, ServiceKey } from '@svc/client';
import { type Clock, SYSTEM_CLOCK } from '@svc/kit/clock';
import type { Log } from '@svc/kit/log';
import { FaultLog } from '../orchestration/fault-log.ts';
import {
  type DesiredService,
  type InstanceLogs,
  type LogQuery,
  type Observation,
  type Orchestrator,
  type RemovedService,
  WorkloadRefused,
} from '../orchestration/orchestrator.ts';
import type { KubeClient } from './api/kube-client.ts';
import type { KubeObject } from './api/kube-object.ts';
import type { WatchLimits } from './api/object-watch.ts';
import { ApiContact } from './api-contact.ts';
import { clusterUid } from './cluster-identity.ts';
import type { FoundPod, FoundRevision, FoundService, FoundWorkload } from './found-objects.ts';
import { givenIdentityProblem } from './given-identities.ts';
import type { IdentitySecrets } from './identity-secrets.ts';
import { KUBERNETES_DEFAULTS } from './kubernetes-section.ts';
import type { KubernetesInstallation } from './manifests/installation.ts';
import {
  type KeptJournal,
  installationWith,
  keptJournal,
  keptJournalProblems,
} from './kept-journal.ts';
import { nameProblems } from './manifests/name-problems.ts';
import { serviceLabels } from './manifests/object-names.ts';
import { workloadProblems } from './manifests/workload-problems.ts';
import { contentState, objectPath, versionState } from './object-state.ts';
import { isOwn, isOwnProject } from './own-objects.ts';
import {
  applyService,
  type Cluster,
  remainingObjects,
  removeService,
  renewIdentity,
} from './reconcile-steps.ts';
import { ResourcePaths } from './resource-paths.ts';
import { readServiceLogs } from './service-logs.ts';
import { instancesOf, needReplicaSets } from './service-pods.ts';
import { type ObjectStates, SettledMemory } from './settled-memory.ts';
import { waitingObject, waitingWords } from './waiting-words.ts';
import { type SeenObject, WatchedServices } from './watched-services.ts';
import { observationOf } from './workload-observation.ts';

export interface KubernetesOrchestratorOptions {
  /** Stays the caller's. */
  readonly client: KubeClient;
  readonly installation: KubernetesInstallation;
  /** Rejects unless the API server answers, and is of the cluster of the installation. Default: unless it answers. */
  readonly confirmCluster?: (signal: AbortSignal) => Promise<void>;
  /** Makes the certificates of services; undefined: the operator does, with cert-manager for example. */
  readonly identities?: IdentitySecrets | undefined;
  /** Begins to keep the certificate of the gateway, which the orchestrator ends with itself. */
  readonly keepGateway?: (() => AsyncDisposable) | undefined;
  readonly log: Log;
  /** Default: the clocks of the system. */
  readonly clock?: Clock;
  readonly watchLimits?: Partial<WatchLimits>;
  readonly settledLimits?: Partial<SettledLimits>;
  /** Time that the controllers of the cluster have to take up a StatefulSet, in milliseconds. Default: that of the settings. */
  readonly takeUpTimeoutMs?: number;
  /** Returns a number from 0 to 1, by which the times of several services differ. */
  readonly random?: () => number;
}

/** Bounds of what is answered without a request. */
export interface SettledLimits {
  /** Longest time after which a service is applied and observed again although no watch has reported a change, in milliseconds; at least half of it. */
  readonly settledMaxMs: number;
  /** Age up to which an answer of the API server shows that it is there, in milliseconds. */
  readonly contactAgeMaxMs: number;
  /** Time that the API server has to show that it is there, in milliseconds. */
  readonly contactTimeoutMs: number;
}

export const SETTLED_LIMITS_DEFAULT: SettledLimits = {
  settledMaxMs: 43_200_000,
  contactAgeMaxMs: 5000,
  contactTimeoutMs: 1000,
};

const PODS = '/api/v1/pods';
const KINDS = [
  { kind: 'Deployment', segment: 'deployments', revisions: 'replicasets' },
  { kind: 'StatefulSet', segment: 'statefulsets', revisions: 'controllerrevisions' },
] as const;

export class KubernetesOrchestrator implements Orchestrator, AsyncDisposable {
  readonly #cluster: Cluster;
  readonly #watched: WatchedServices;
  readonly #gateway: AsyncDisposable | undefined;
  readonly #contact: ApiContact;
  readonly #limits: SettledLimits;
  readonly #random: () => number;
  /** Digests of the services that were applied. */
  readonly #applied: SettledMemory<string>;
  readonly #observed: SettledMemory<Observation>;

  constructor({
    client,
    installation,
    confirmCluster = async (signal) => void (await clusterUid(client, signal)),
    identities,
    keepGateway,
    log,
    clock = SYSTEM_CLOCK,
    watchLimits = {},
    settledLimits = {},
    takeUpTimeoutMs = KUBERNETES_DEFAULTS.takeUpTimeoutMs,
    random = Math.random,
  }: KubernetesOrchestratorOptions) {
    const paths = new ResourcePaths(client);
    const parts = { client, paths, installation, identities, clock };
    this.#cluster = { ...parts, confirmCluster, takeUpTimeoutMs };
    this.#gateway = keepGateway?.();
    this.#limits = { ...SETTLED_LIMITS_DEFAULT, ...settledLimits };
    this.#random = random;
    this.#applied = new SettledMemory(clock);
    this.#observed = new SettledMemory(clock);
    this.#contact = new ApiContact({
      confirmCluster,
      clock,
      ageMaxMs: this.#limits.contactAgeMaxMs,
      timeoutMs: this.#limits.contactTimeoutMs,
    });
    const faults = new FaultLog(log, clock);
    const { databases } = installation;
    this.#watched = new WatchedServices({
      client,
      clock,
      limits: watchLimits,
      disruptionBudgets: installation.cluster.disruptionBudgets,
      databases: databases && ((signal) => paths.collectionOf(databases, signal)),
      onChange: (seen) => this.#noteChange(seen),
      onFailure: (error) =>
        faults.report('The cluster cannot be watched, which is tried again', undefined, error),
    });
  }

  async problems(desired: DesiredService, signal: AbortSignal): Promise<readonly Problem[]> {
    const { client, installation } = this.#cluster;
    const problems = problemsBeside(
      await keptJournal(client, desired, signal),
      desired,
      installation,
    );
    return [...problems.names, ...problems.journal, ...problems.others];
  }

  async reconcile(desired: DesiredService | RemovedService, signal: AbortSignal): Promise<void> {
    const { key } = desired;
    if (desired.kind === 'removed') {
      this.#forget(key);
      return removeService(this.#cluster, key, signal);
    }
    const { client, identities, installation, clock } = this.#cluster;
    const digest = digestOf([desired, installation, identities?.revision]);
    if ((await this.#recalled(this.#applied, key, signal)) === digest) return;
    const kept = await keptJournal(client, desired, signal);
    const { names, journal, others } = problemsBeside(kept, desired, installation);
    // A service that is paused or suspended can always be stopped, if it can have objects.
    const counting = desired.instances > 0 ? [...names, ...journal, ...others] : names;
    if (counting.length > 0) {
      if (names.length === 0) await renewIdentity(this.#cluster, key, signal);
      throw new WorkloadRefused(problemsText(counting));
    }
    this.#forget(key);
    using finding = this.#applied.begin(key);
    const cluster = { ...this.#cluster, installation: installationWith(installation, kept) };
    const { objects, renewAtMs, awaitsSecret } = await this.#apply(
      cluster,
      desired,
      journal.length === 0,
      signal,
    );
    // No watch reports the secret; with it the note has to be written, unless that was written while the secret was there.
    if (awaitsSecret && kept.supplied !== desired.descriptor.database?.urlFrom) return;
    const renewalMs = (renewAtMs ?? Infinity) - clock.nowMs();
    finding.keep(digest, statesOf(objects, contentState), Math.min(this.#settledMs(), renewalMs));
  }

  async observe(key: ServiceKey, signal: AbortSignal): Promise<Observation> {
    const recalled = await this.#recalled(this.#observed, key, signal);
    if (recalled !== undefined) return recalled;
    using finding = this.#observed.begin(key);
    const [isOwnNamespace, pods, ...both] = await Promise.all([
      isOwnProject(this.#cluster, key, signal),
      this.#pods(key, signal),
      ...KINDS.map((kind) => this.#workload(key, kind, signal)),
    ]);
    const workloads = both.filter((found) => found !== undefined);
    // In another cluster everything would be missing.
    if (!isOwnNamespace || workloads.length + pods.length === 0)
      await this.#cluster.confirmCluster(signal);
    if (!isOwnNamespace) return { kind: 'none', key };
    const kinds = new Set(workloads.map(({ kind }) => kind as string));
    if (needReplicaSets(pods)) kinds.add('Deployment');
    const lists = await Promise.all([...kinds].map((kind) => this.#revisions(key, kind, signal)));
    const revisions = lists.flat();
    const instances = instancesOf(key, pods, revisions);
    const isEmpty = instances.length === 0 && workloads.length === 0;
    const others = isEmpty ? await remainingObjects(this.#cluster, key, signal) : [];
    const found = { workloads, revisions, pods: instances, others };
    const identityProblem =
      this.#cluster.identities === undefined
        ? await givenIdentityProblem(this.#cluster, key, instances, signal)
        : undefined;
    const waiting = await this.#waiting(key, found, signal);
    const observation = observationOf(key, { ...found, identityProblem, waiting });
    if (isAtRest(observation)) {
      const objects = new Map<string, KubeObject>();
      for (const pod of pods) objects.set(objectPath(PODS, pod), pod);
      for (const one of workloads) objects.set(workloadPath(key, one.kind as string), one);
      finding.keep(observation, statesOf(objects, versionState), this.#settledMs());
    }
    // A secret that it needs may have been deleted or changed, which no watch reports.
    if (isInTrouble(observation)) this.#applied.end(key);
    return observation;
  }

  async logs(
    key: ServiceKey,
    query: LogQuery,
    signal: AbortSignal,
  ): Promise<readonly InstanceLogs[]> {
    const [isOwnNamespace, pods] = await Promise.all([
      isOwnProject(this.#cluster, key, signal),
      this.#pods(key, signal),
    ]);
    if (!isOwnNamespace) return [];
    const revisions = needReplicaSets(pods) ? await this.#revisions(key, 'Deployment', signal) : [];
    const instances = instancesOf(key, pods, revisions);
    return readServiceLogs(this.#cluster.client, instances, query, signal);
  }

  watch(changed: (key: ServiceKey) => void): Disposable {
    return this.#watched.watch(changed);
  }

  /** Ends the watches. What runs in the cluster goes on. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#contact[Symbol.dispose]();
    await this.#gateway?.[Symbol.asyncDispose]();
    await this.#watched[Symbol.asyncDispose]();
  }

  async #apply(...of: Parameters<typeof applyService>): ReturnType<typeof applyService> {
    try {
      return await applyService(...of);
    } finally {
      // What was observed meanwhile may be from before a write, also if a later one has failed.
      this.#observed.end(of[1].key);
    }
  }

  /** Returns why the service has not started, which is asked only if it should have. */
  async #waiting(
    key: ServiceKey,
    found: FoundService,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const [workload] = found.workloads;
    const waiting = waitingObject(found, this.#cluster.clock.nowMs());
    if (workload === undefined || waiting === undefined) return undefined;
    return await waitingWords(this.#cluster, key, { workload, waiting }, signal);
  }

  /** Returns what is remembered if it counts now. */
  async #recalled<Value>(
    memory: SettledMemory<Value>,
    key: ServiceKey,
    signal: AbortSignal,
  ): Promise<Value | undefined> {
    if (memory.get(key) === undefined || !this.#watched.isLive) return undefined;
    if (!(await this.#contact.isThere(signal))) return undefined;
    return this.#watched.isLive ? memory.get(key) : undefined;
  }

  #noteChange({ kind, object, ...seen }: SeenObject): void {
    const state = (stateOf: (found: KubeObject) => string) =>
      object === undefined ? undefined : stateOf(object);
    if (kind.isApplied) this.#applied.changed({ ...seen, state: state(contentState) });
    if (kind.isObserved) this.#observed.changed({ ...seen, state: state(versionState) });
  }

  #forget(key: ServiceKey): void {
    this.#applied.end(key);
    this.#observed.end(key);
  }

  /** Spread, so that services that were applied together are not renewed together. */
  #settledMs(): number {
    return this.#limits.settledMaxMs * (0.5 + 0.5 * this.#random());
  }

  /** Returns a workload with its kind, which the server leaves out in lists; undefined: there is none of the service. */
  async #workload(
    key: ServiceKey,
    { kind }: (typeof KINDS)[number],
    signal: AbortSignal,
  ): Promise<FoundWorkload | undefined> {
    const found = await this.#cluster.client.get(workloadPath(key, kind), signal);
    return found !== undefined && isOwn(found, serviceLabels(key)) ? { ...found, kind } : undefined;
  }

  async #revisions(
    key: ServiceKey,
    kind: string,
    signal: AbortSignal,
  ): Promise<readonly FoundRevision[]> {
    const { revisions } = KINDS.find((one) => one.kind === kind)!;
    const path = `/apis/apps/v1/namespaces/${projectNamespace(key.project)}/${revisions}`;
    return this.#list<FoundRevision>(key, path, signal);
  }

  async #pods(key: ServiceKey, signal: AbortSignal): Promise<readonly FoundPod[]> {
    const path = `/api/v1/namespaces/${projectNamespace(key.project)}/pods`;
    return this.#list<FoundPod>(key, path, signal);
  }

  async #list<Found>(
    key: ServiceKey,
    path: string,
    signal: AbortSignal,
  ): Promise<readonly Found[]> {
    const labelSelector = Object.entries(serviceLabels(key))
      .map(([name, value]) => `${name}=${value}`)
      .join(',');
    const { items } = await this.#cluster.client.list(path, { labelSelector, signal });
    return items as unknown as readonly Found[];
  }
}

function problemsBeside(
  kept: KeptJournal,
  { key, descriptor }: DesiredService,
  installation: KubernetesInstallation,
): Readonly<Record<'names' | 'journal' | 'others', readonly Problem[]>> {
  const own = installationWith(installation, kept);
  return {
    names: nameProblems(key, descriptor, own),
    journal: keptJournalProblems({ key, descriptor }, kept, own),
    others: workloadProblems(key, descriptor, own),
  };
}

function workloadPath({ project, service }: ServiceKey, kind: string): string {
  const { segment } = KINDS.find((one) => one.kind === kind)!;
  return `/apis/apps/v1/namespaces/${projectNamespace(project)}/${segment}/${service}`;
}

function statesOf(
  objects: ReadonlyMap<string, KubeObject>,
  stateOf: (object: KubeObject) => string,
): ObjectStates {
  return new Map([...objects].map(([path, object]) => [path, stateOf(object)]));
}

/** Returns a digest, which is all that is kept of a descriptor and its secrets. */
function digestOf(value: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64');
}

/** Whether something keeps instances from running that the cluster gives a reason for, or that was not so at the end of the rollout. */
function isInTrouble(observation: Observation): boolean {
  if (observation.kind !== 'workload' || isAtRest(observation)) return false;
  return observation.detail !== undefined || observation.rollout.kind !== 'progressing';
}

/** Whether all that is wanted runs. Of anything else the cluster may have more to say as time passes, without a change of these objects. */
function isAtRest(observation: Observation): boolean {
  if (observation.kind !== 'workload' || observation.detail !== undefined) return false;
  const { rollout, wantedInstances, readyInstances, updatedInstances } = observation;
  const isWhole = [readyInstances, updatedInstances].every((count) => count === wantedInstances);
  return rollout.kind === 'complete' && isWhole;
}
