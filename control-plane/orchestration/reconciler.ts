// Reconciler: brings one service to what is desired.
//
// Invariants
// R1  What is desired is read from the service's entity when the work begins, never from the mark that caused it: so a mark may
//     be lost or repeated.
// R2  A service is reconciled only while the orchestrator has nothing of another incarnation of it: the teardown of a deleted
//     service comes before the start of the next one of its name.
// R3  A deleted service is looked at until the orchestrator was observed to have nothing of it.
import type { ServiceKey } from '@svc/client';
import type { Service } from '@svc/host';
import type { Clock } from '@svc/kit/clock';
import { serviceId } from '../flows/service-id.ts';
import { service } from '../model/service.ts';
import { isKnownEnd, workload, type RolloutEnd } from '../model/workload.ts';
import { shownText } from './checked-observation.ts';
import { desiredOrRemoved } from './desired-service.ts';
import type { FailedRequests } from './failed-requests.ts';
import { isTakenUp, workloadOf } from './lifecycle.ts';
import type { Observations } from './observations.ts';
import type { OrchestratorSection } from './orchestrator-section.ts';
import {
  WorkloadRefused,
  type DesiredService,
  type Observation,
  type Orchestrator,
  type RemovedService,
  type Workload,
} from './orchestrator.ts';
import type { WorkOutcome } from './reconcile-queue.ts';
import { withinTime } from './within-time.ts';

export interface ReconcilerOptions {
  readonly call: Service['call'];
  readonly orchestrator: Pick<Orchestrator, 'reconcile' | 'runsNothing'>;
  readonly observations: Observations;
  readonly section: OrchestratorSection;
  readonly clock: Clock;
  readonly failedRequests: FailedRequests;
}

export class Reconciler {
  readonly #options: ReconcilerOptions;
  /** The ends of rollouts that are stored, so that none is sent twice. */
  readonly #stored = new Map<string, RolloutEnd>();

  constructor(options: ReconcilerOptions) {
    this.#options = options;
  }

  /** Rejects if the orchestrator fails, or refuses the service. */
  async work(key: ServiceKey, stopping: AbortSignal): Promise<WorkOutcome> {
    const state = await this.#options.call(service, serviceId(key)).desired();
    if (!state.isOk) throw new Error(state.message);
    // A service that never was: what the orchestrator has of this name is not the platform's.
    if (state.value.generation === 0) return 'settled';
    const wanted = desiredOrRemoved(key, state.value);
    return wanted.kind === 'removed'
      ? await this.#remove(wanted, state.value.generation, stopping)
      : await this.#run(wanted, stopping);
  }

  /** The end of a rollout that is stored. */
  remember(key: ServiceKey, end: RolloutEnd): void {
    this.#stored.set(serviceId(key), end);
  }

  async #remove(
    removed: RemovedService,
    generation: number,
    stopping: AbortSignal,
  ): Promise<WorkOutcome> {
    const { call, observations } = this.#options;
    if (!(await this.#isGone(removed, stopping))) return 'unsettled';
    const marked = await call(workload, serviceId(removed.key)).markGone({ generation });
    if (!marked.isOk) throw new Error(marked.message);
    observations.forget(removed.key);
    this.#stored.delete(serviceId(removed.key));
    return 'settled';
  }

  async #run(desired: DesiredService, stopping: AbortSignal): Promise<WorkOutcome> {
    const { observations, orchestrator } = this.#options;
    const { key } = desired;
    if (orchestrator.runsNothing === true && observations.has(key)) return 'settled';
    if (!observations.hasSeen(desired)) {
      const found = await observations.ask(key, stopping);
      const isForeign = found.kind === 'workload' && found.incarnation !== desired.incarnation;
      if (isForeign && !(await this.#isGone({ kind: 'removed', key }, stopping)))
        return 'unsettled';
    }
    await this.#reconcile(desired, stopping);
    const observation = await observations.ask(key, stopping);
    const running = workloadOf(desired, observation);
    if (running === undefined || !isTakenUp(desired, running))
      return orchestrator.runsNothing === true ? 'settled' : 'unsettled';
    await this.#record(running);
    return running.rollout.kind === 'progressing' ? 'unsettled' : 'settled';
  }

  /** Has everything of the service removed, and returns whether nothing is left. */
  async #isGone(removed: RemovedService, stopping: AbortSignal): Promise<boolean> {
    await this.#reconcile(removed, stopping);
    const observation: Observation = await this.#options.observations.ask(removed.key, stopping);
    return observation.kind === 'none';
  }

  async #reconcile(wanted: DesiredService | RemovedService, stopping: AbortSignal): Promise<void> {
    const { orchestrator, observations, section, clock, failedRequests } = this.#options;
    const limit = { clock, limitMs: section.reconcileTimeoutMs, stopping };
    try {
      await withinTime(limit, (signal) => orchestrator.reconcile(wanted, signal));
      observations.accept(wanted.key);
    } catch (error) {
      if (error instanceof WorkloadRefused && wanted.kind === 'desired')
        observations.refuse(wanted, error.message);
      else if (!stopping.aborted) failedRequests.add();
      throw error;
    }
  }

  async #record({ key, rollout, ...rest }: Workload): Promise<void> {
    if (rollout.kind === 'progressing') return;
    const { incarnation, generation, wantedInstances, readyInstances, updatedInstances } = rest;
    const end: RolloutEnd = {
      incarnation,
      generation,
      wantedInstances,
      readyInstances,
      updatedInstances,
      ...(rollout.kind === 'failed' && { failure: shownText(rollout.reason) }),
      ...(rest.database !== undefined && { database: rest.database }),
    };
    if (isKnownEnd(this.#stored.get(serviceId(key)), end)) return;
    const recorded = await this.#options.call(workload, serviceId(key)).endRollout(end);
    if (!recorded.isOk) throw new Error(recorded.message);
    this.remember(key, end);
  }
}

/** Returns what is known of a service after a restart. */
export function restoredObservation(key: ServiceKey, end: Readonly<RolloutEnd>): Workload {
  const { failure, database, ...counts } = end;
  return {
    kind: 'workload',
    key,
    ...counts,
    rollout: failure === undefined ? { kind: 'complete' } : { kind: 'failed', reason: failure },
    ...(database !== undefined && { database }),
  };
}
