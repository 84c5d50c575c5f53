// IdentifiedOrchestrator: the orchestrator of a cluster, once the API server has said which cluster it is and which version it has. Until then, such as while the
// server cannot be reached, every call is rejected, so that statuses restate what was last known.
//
// Invariants
// I1  No call reaches the cluster before it was found to be the one that the control plane remembers. The address may lead to another one later, so the
//     orchestrator of the cluster has it confirmed whenever it relies on what is missing there.
// I2  A cluster that is another one ends the orchestrator for good: `failure` resolves, and all calls in flight are rejected.
// I3  Watches continue over a change of the version, and begin once the cluster is known.
import type { Problem, ServiceKey } from '@svc/client';
import type { Clock } from '@svc/kit/clock';
import type { Log } from '@svc/kit/log';
import { SvcError } from '@svc/kit/svc-error';
import { FaultLog } from '../orchestration/fault-log.ts';
import type {
  DesiredService,
  InstanceLogs,
  LogQuery,
  Observation,
  Orchestrator,
  RemovedService,
} from '../orchestration/orchestrator.ts';
import type { KubeClient } from './api/kube-client.ts';
import { untilAborted } from './api/until-aborted.ts';
import {
  type ClusterIdentity,
  type ClusterMemory,
  clusterUid,
  identificationError,
  identifyCluster,
  otherCluster,
} from './cluster-identity.ts';
import type { ClusterFeatures } from './manifests/installation.ts';
import { SteadyFeatures } from './steady-features.ts';

type ClusterOrchestrator = Orchestrator & AsyncDisposable;

export interface IdentifiedOrchestratorOptions {
  /** Stays the caller's. */
  readonly client: KubeClient;
  /** URL of the API server, for messages. */
  readonly server: string;
  /**
   * Opens the orchestrator of a cluster with these features. `installation`: the id of the installation. `confirmCluster` rejects unless the API server
   * answers, and is still of that cluster.
   */
  readonly open: (
    features: ClusterFeatures,
    installation: string,
    confirmCluster: (signal: AbortSignal) => Promise<void>,
  ) => ClusterOrchestrator;
  /** Resolves when the journal of the control plane is open. */
  readonly memory: Promise<ClusterMemory>;
  /** True: the first cluster that answers replaces the remembered one. */
  readonly isNewCluster: boolean;
  readonly section: { readonly identifyMs: number; readonly identifyPauseMs: number };
  readonly clock: Clock;
  readonly log: Log;
}

interface Watch {
  readonly changed: (key: ServiceKey) => void;
  inner: Disposable | undefined;
}

export class IdentifiedOrchestrator implements Orchestrator, AsyncDisposable {
  /** Resolves if the cluster is another one than the control plane remembers. */
  readonly failure: Promise<SvcError>;
  readonly #options: IdentifiedOrchestratorOptions;
  readonly #faults: FaultLog;
  readonly #failed = Promise.withResolvers<SvcError>();
  readonly #stopping = new AbortController();
  /** Ends the calls in flight if the cluster is another one. */
  readonly #lost = new AbortController();
  readonly #features = new SteadyFeatures();
  readonly #watches = new Set<Watch>();
  readonly #ended: Promise<void>;
  #isNewCluster: boolean;
  #present: { readonly inner: ClusterOrchestrator; readonly features: ClusterFeatures } | undefined;
  /** Why the cluster is not known. */
  #error: Error | undefined;
  /** Resolves after the present attempt. */
  #attempt: Promise<void>;

  constructor(options: IdentifiedOrchestratorOptions) {
    this.#options = options;
    this.#isNewCluster = options.isNewCluster;
    this.#faults = new FaultLog(options.log, options.clock);
    this.failure = this.#failed.promise;
    this.#attempt = this.#identify();
    this.#ended = this.#follow();
  }

  async problems(desired: DesiredService, signal: AbortSignal): Promise<readonly Problem[]> {
    return this.#call(signal, (inner, inTime) => inner.problems(desired, inTime));
  }

  async reconcile(wanted: DesiredService | RemovedService, signal: AbortSignal): Promise<void> {
    return this.#call(signal, (inner, inTime) => inner.reconcile(wanted, inTime));
  }

  async observe(key: ServiceKey, signal: AbortSignal): Promise<Observation> {
    return this.#call(signal, (inner, inTime) => inner.observe(key, inTime));
  }

  async logs(
    key: ServiceKey,
    query: LogQuery,
    signal: AbortSignal,
  ): Promise<readonly InstanceLogs[]> {
    return this.#call(signal, (inner, inTime) => inner.logs(key, query, inTime));
  }

  watch(changed: (key: ServiceKey) => void): Disposable {
    const watch: Watch = { changed, inner: this.#present?.inner.watch(changed) };
    this.#watches.add(watch);
    return {
      [Symbol.dispose]: () => {
        this.#watches.delete(watch);
        watch.inner?.[Symbol.dispose]();
      },
    };
  }

  /** Ends all requests. What runs in the cluster goes on. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort(new Error('the control plane is stopping'));
    await this.#ended;
    this.#watches.clear();
    await this.#present?.inner[Symbol.asyncDispose]();
  }

  async #call<Result>(
    signal: AbortSignal,
    call: (inner: ClusterOrchestrator, signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const inner = await this.#inner(signal);
    return call(inner, AbortSignal.any([signal, this.#lost.signal]));
  }

  /** Returns the orchestrator of the cluster. Rejects if the cluster is not known after the present attempt. */
  async #inner(signal: AbortSignal): Promise<ClusterOrchestrator> {
    if (this.#error === undefined && this.#present === undefined)
      await untilAborted(this.#attempt, signal);
    if (this.#present === undefined) throw this.#error ?? new Error('the cluster is not known yet');
    return this.#present.inner;
  }

  async #follow(): Promise<void> {
    const { section, clock } = this.#options;
    const { signal } = this.#stopping;
    for (;;) {
      await this.#attempt;
      if (signal.aborted || isOtherCluster(this.#error)) return;
      const { identifyMs, identifyPauseMs } = section;
      await pause(clock, this.#error === undefined ? identifyMs : identifyPauseMs, signal);
      if (signal.aborted || isOtherCluster(this.#error)) return;
      this.#attempt = this.#identify();
    }
  }

  /** Never rejects. */
  async #identify(): Promise<void> {
    const { client, server, memory } = this.#options;
    const { signal } = this.#stopping;
    try {
      const identity = await identifyCluster(client, signal);
      const remembered = await (
        await untilAborted(memory, signal)
      ).remember(identity.uid, this.#isNewCluster);
      signal.throwIfAborted();
      if (remembered.uid !== identity.uid) throw otherCluster(identity.uid, remembered.uid, server);
      if (isOtherCluster(this.#error)) return;
      this.#isNewCluster = false;
      this.#error = undefined;
      await this.#take(identity, remembered.installation);
    } catch (error) {
      if (signal.aborted) return;
      this.#fail(identificationError(error, server));
    }
  }

  /** Rejects with SVC_CLUSTER_CHANGED if the API server is of another cluster than this one, which ends the orchestrator, and with KubeError. */
  async #confirm(known: string, signal: AbortSignal): Promise<void> {
    const { client, server } = this.#options;
    const uid = await clusterUid(client, signal);
    if (uid === known) return;
    const error = otherCluster(uid, known, server);
    this.#fail(error);
    throw error;
  }

  #fail(error: Error): void {
    if (isOtherCluster(this.#error)) return;
    const isOther = isOtherCluster(error);
    // The services of a cluster that was known are asked for all the same: their requests fail by themselves while it is away.
    if (this.#present === undefined || isOther) this.#error = error;
    this.#faults.report('The cluster cannot be asked which one it is', undefined, error);
    if (!isOther) return;
    this.#lost.abort(error);
    const { inner } = this.#present ?? {};
    this.#present = undefined;
    void inner?.[Symbol.asyncDispose]();
    this.#failed.resolve(error);
  }

  async #take(identity: ClusterIdentity, installation: string): Promise<void> {
    const former = this.#present;
    const features = this.#features.found(identity.features);
    if (former?.features === features) return;
    const { open, log, server } = this.#options;
    const { version = 'unknown', uid } = identity;
    const inner = open(features, installation, (signal) => this.#confirm(uid, signal));
    this.#present = { inner, features };
    for (const watch of this.#watches) {
      watch.inner?.[Symbol.dispose]();
      watch.inner = inner.watch(watch.changed);
    }
    log({
      level: 'info',
      message: 'cluster found',
      fields: { server, version, uid, installation },
    });
    await former?.inner[Symbol.asyncDispose]();
  }
}

function isOtherCluster(error: Error | undefined): error is SvcError {
  return error instanceof SvcError && error.code === 'SVC_CLUSTER_CHANGED';
}

async function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    if (signal.aborted) return resolve();
    const end = () => {
      cancel();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const cancel = clock.after(ms, end);
    signal.addEventListener('abort', end, { once: true });
  });
}
