// Refusal: that the orchestrator does not run a generation at all. An orchestrator that refuses a workload keeps nothing of
// it, so an observation cannot tell; the control plane remembers it and adds it to what was observed.
import type { DesiredService, Observation, Workload } from './orchestrator.ts';
import { isTakenUp, workloadOf } from './lifecycle.ts';

export interface Refusal {
  readonly incarnation: string;
  readonly generation: number;
  /** The reason, for members. */
  readonly reason: string;
}

/** Returns the observation, and that the rollout has failed if this very generation was refused. */
export function withRefusal(
  observation: Observation | undefined,
  desired: DesiredService,
  refusal: Refusal | undefined,
): Observation | undefined {
  const { key, incarnation, generation, instances } = desired;
  if (refusal?.incarnation !== incarnation || refusal.generation !== generation) return observation;
  const workload = workloadOf(desired, observation);
  if (workload !== undefined && isTakenUp(desired, workload)) return observation;
  const refused: Workload = {
    readyInstances: 0,
    ...workload,
    kind: 'workload',
    key,
    incarnation,
    generation,
    wantedInstances: instances,
    updatedInstances: 0,
    rollout: { kind: 'failed', reason: refusal.reason },
  };
  return refused;
}
