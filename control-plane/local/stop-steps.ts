// StopSteps: the part of a plan that ends instances which should not run.
import { isLive, type InstanceView, type Plan, type PlanInput, type Step } from './plan-types.ts';

/** Ends every instance, and removes those that have ended. */
export function stepsToNothing({ instances, hold }: PlanInput): Plan {
  const steps: Step[] = instances.flatMap(endingSteps);
  if (hold !== 'none') steps.push({ kind: 'release' });
  return { steps, lookAgainMs: undefined, isComplete: instances.length === 0 };
}

/** Ends the instance, and removes it once it has ended. */
export function endingSteps(instance: InstanceView): readonly Step[] {
  const { name, phase } = instance;
  if (!isLive(instance)) return [{ kind: 'remove', name }];
  return phase === 'stopping' ? [] : [{ kind: 'stop', name }];
}

/** Starts an instance that has ended again after its pause, if this installation does. */
export function restartSteps(
  { name, failures, endedAtMs, isRefused }: InstanceView,
  { nowMs, limits }: PlanInput,
): { readonly steps: readonly Step[]; readonly lookAgainMs: number | undefined } {
  if (isRefused) return { steps: [], lookAgainMs: undefined };
  const doublings = Math.min(30, Math.max(0, failures - 1));
  const pauseMs = Math.min(limits.restartPauseMaxMs, limits.restartPauseMinMs * 2 ** doublings);
  const waitMs = failures === 0 ? 0 : (endedAtMs ?? nowMs) + pauseMs - nowMs;
  if (waitMs > 0) return { steps: [], lookAgainMs: waitMs };
  return { steps: [{ kind: 'restart', name }], lookAgainMs: undefined };
}

/** Returns the earlier of two times, of which none may exist. */
export function earlier(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return Math.min(one, other);
}
