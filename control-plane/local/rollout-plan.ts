// RolloutPlan: what to do next for one service of this machine, from what is desired and what runs. It is a pure function of
// its input: no I/O, no clock, no memory. Whoever carries it out looks again afterwards and asks again.
//
// Invariants
// R1  An instance with the data folder is asked to end only once another instance is prepared, and everyone who routes to the
//     service has acknowledged that nothing is under way there; unless no instance should run.
// R2  An instance that serves is not replaced if the desired generation has failed, or fails before it is prepared.
// R3  Nothing is done if what runs is what is desired.
import { holdSteps } from './hold-steps.ts';
import { overlappingSteps } from './overlapping-plan.ts';
import type { PlanInput, Plan } from './plan-types.ts';
import { isReplacementHeld, isReplacing, replacingSteps } from './replacing-plan.ts';
import { isHandOver, successionSteps } from './succession-plan.ts';
import { stepsToNothing } from './stop-steps.ts';

/** Returns the next steps. They are to be carried out in order. */
export function planRollout(input: PlanInput): Plan {
  if (input.wanted.instances === 0) return stepsToNothing(input);
  const isHeld = input.wanted.hasDataFolder ? isHandOver(input) : isReplacementHeld(input);
  const plan = planOf(input);
  return { ...plan, steps: [...holdSteps(input, isHeld), ...plan.steps] };
}

function planOf(input: PlanInput): Plan {
  if (input.wanted.hasDataFolder) return successionSteps(input);
  return isReplacing(input) ? replacingSteps(input) : overlappingSteps(input);
}
