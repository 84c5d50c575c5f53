// KubernetesOrchestrator: runs the services of an installation in a Kubernetes cluster. It stores nothing: what is desired is in the objects that
// it applies, and what runs is what their controllers make of them.
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
import type { WatchLimits } from './api/object-watch.ts';
import type { IdentitySecrets } from './identity-secrets.ts';
import type { FoundPod, FoundRevision, FoundService, FoundWorkload } from './found-objects.ts';
import { givenIdentityProblem } from './given-identities.ts';
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
import { isOwn } from './own-objects.ts';
import {
  applyService,
  type Cluster,
  remainingObjects,
  removeService,
  renewIdentity,
} from './reconcile-steps.ts';
import { ResourcePaths } from './resource-paths.ts';
import { readServiceLogs } from './service-logs.ts';
import { waitingPod, waitingWords } from './waiting-words.ts';
import { WatchedServices } from './watched-services.ts';
import { observationOf } from './workload-observation.ts';

export interface KubernetesOrchestratorOptions {
  /** Stays the caller's. */
  readonly client: KubeClient;
  readonly installation: KubernetesInstallation;
  /** Makes the certificates of services; undefined: the operator does, with cert-manager for example. */
  readonly identities?: IdentitySecrets | undefined;
  /** Begins to keep the certificate of the gateway, which the orchestrator ends with itself. */
  readonly keepGateway?: (() => AsyncDisposable) | undefined;
  readonly log: Log;
  /** Default: the clocks of the system. */
  readonly clock?: Clock;
  readonly watchLimits?: Partial<WatchLimits>;
}

const KINDS = [
  { kind: 'Deployment', segment: 'deployments', revisions: 'replicasets' },
  { kind: 'StatefulSet', segment: 'statefulsets', revisions: 'controllerrevisions' },
] as const;

export class KubernetesOrchestrator implements Orchestrator, AsyncDisposable {
  readonly #cluster: Cluster;
  readonly #watched: WatchedServices;
  readonly #gateway: AsyncDisposable | undefined;

  constructor({
    client,
    installation,
    identities,
    keepGateway,
    log,
    clock = SYSTEM_CLOCK,
    watchLimits = {},
  }: KubernetesOrchestratorOptions) {
    this.#cluster = { client, paths: new ResourcePaths(client), installation, identities, clock };
    this.#gateway = keepGateway?.();
    const faults = new FaultLog(log, clock);
    this.#watched = new WatchedServices({
      client,
      clock,
      limits: watchLimits,
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
    if (desired.kind === 'removed') return removeService(this.#cluster, key, signal);
    const { client } = this.#cluster;
    const kept = await keptJournal(client, desired, signal);
    const { names, journal, others } = problemsBeside(kept, desired, this.#cluster.installation);
    // A service that is paused or suspended can always be stopped, if it can have objects.
    const counting = desired.instances > 0 ? [...names, ...journal, ...others] : names;
    if (counting.length > 0) {
      if (names.length === 0) await renewIdentity(this.#cluster, key, signal);
      throw new WorkloadRefused(problemsText(counting));
    }
    const installation = installationWith(this.#cluster.installation, kept);
    await applyService({ ...this.#cluster, installation }, desired, journal.length === 0, signal);
  }

  async observe(key: ServiceKey, signal: AbortSignal): Promise<Observation> {
    const [pods, ...both] = await Promise.all([
      this.#pods(key, signal),
      ...KINDS.map((kind) => this.#workload(key, kind, signal)),
    ]);
    const workloads = both.filter((found) => found !== undefined);
    const lists = await Promise.all(
      workloads.map(({ kind }) => this.#revisions(key, kind as string, signal)),
    );
    const isEmpty = pods.length === 0 && workloads.length === 0;
    const others = isEmpty ? await remainingObjects(this.#cluster, key, signal) : [];
    const identityProblem =
      this.#cluster.identities === undefined
        ? await givenIdentityProblem(this.#cluster, key, pods, signal)
        : undefined;
    const waiting = await this.#waiting(key, { workloads, pods }, signal);
    const revisions = lists.flat();
    return observationOf(key, { workloads, revisions, pods, others, identityProblem, waiting });
  }

  async logs(
    key: ServiceKey,
    query: LogQuery,
    signal: AbortSignal,
  ): Promise<readonly InstanceLogs[]> {
    const pods = await this.#pods(key, signal);
    return readServiceLogs(this.#cluster.client, pods, query, signal);
  }

  watch(changed: (key: ServiceKey) => void): Disposable {
    return this.#watched.watch(changed);
  }

  /** Ends the watches. What runs in the cluster goes on. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#gateway?.[Symbol.asyncDispose]();
    await this.#watched[Symbol.asyncDispose]();
  }

  /** Returns why a pod has not started, which is asked only if it should have. */
  async #waiting(
    key: ServiceKey,
    { workloads: [workload], pods }: Pick<FoundService, 'workloads' | 'pods'>,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const pod = waitingPod(pods, this.#cluster.clock.nowMs());
    if (workload === undefined || pod === undefined) return undefined;
    return await waitingWords(this.#cluster, key, { workload, pod }, signal);
  }

  /** Returns a workload with its kind, which the server leaves out in lists; undefined: there is none of the service. */
  async #workload(
    key: ServiceKey,
    { kind, segment }: (typeof KINDS)[number],
    signal: AbortSignal,
  ): Promise<FoundWorkload | undefined> {
    const path = `/apis/apps/v1/namespaces/${projectNamespace(key.project)}/${segment}/${key.service}`;
    const found = await this.#cluster.client.get(path, signal);
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
