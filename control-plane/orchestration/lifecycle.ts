// Lifecycle: the state of a service, from how it should be and what was last observed. It is never stored.
//
// Precedence: suspended, paused, failed, pending, deploying, unavailable, degraded, ready. Only an observation of the very
// generation, incarnation and number of instances that are desired says more than `pending` or `deploying`: an earlier
// generation that is ready says nothing about this one.
import type { Lifecycle } from '@svc/client';
import type { DesiredService, Observation, Workload } from './orchestrator.ts';

/** Default of the time that a rollout may be without progress. */
export const PROGRESS_DEADLINE_MS = 600_000;

export function lifecycleOf(
  desired: DesiredService,
  observation: Observation | undefined,
  nowMs: number,
  progressDeadlineMs = PROGRESS_DEADLINE_MS,
): Lifecycle {
  if (desired.isSuspended) return 'suspended';
  if (desired.isPaused) return 'paused';
  const workload = workloadOf(desired, observation);
  if (workload === undefined) return 'pending';
  if (!isTakenUp(desired, workload)) return 'deploying';
  switch (workload.rollout.kind) {
    case 'failed':
      return 'failed';
    case 'progressing':
      return nowMs - workload.rollout.sinceMs >= progressDeadlineMs ? 'failed' : 'deploying';
    case 'complete':
      if (workload.updatedInstances >= desired.instances) return 'ready';
      return workload.readyInstances > 0 ? 'degraded' : 'unavailable';
  }
}

/** Returns what was observed of the present life of the service, of whichever generation. */
export function workloadOf(
  desired: DesiredService,
  observation: Observation | undefined,
): Workload | undefined {
  if (observation?.kind !== 'workload') return undefined;
  return observation.incarnation === desired.incarnation ? observation : undefined;
}

/** Returns whether the orchestrator is at work with the desired generation and number of instances. */
export function isTakenUp(desired: DesiredService, workload: Workload): boolean {
  return (
    workload.generation === desired.generation && workload.wantedInstances === desired.instances
  );
}
