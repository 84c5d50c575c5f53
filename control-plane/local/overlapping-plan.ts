// OverlappingPlan: the plan for a service whose instances may serve side by side. One instance more than wanted runs during a
// rollout, and an instance ends only if the others are as many ready ones as are wanted, or if it is not ready itself. One that was
// ready may still get requests: it ends once those who route have acknowledged that they send it none.
import {
  isLeaving,
  isLive,
  isOf,
  type InstanceView,
  type Plan,
  type PlanInput,
  type Step,
} from './plan-types.ts';
import { earlier, endingSteps, restartSteps } from './stop-steps.ts';

/** Instances beyond those wanted that run during a rollout. */
const SURGE = 1;

export function overlappingSteps(input: PlanInput): Plan {
  const { instances, wanted, failure } = input;
  const isWanted = isOf(wanted);
  const mine = instances.filter((one) => isWanted(one) && !isLeaving(one));
  const others = instances.filter((one) => !isWanted(one));
  const live = instances.filter(isLive);
  const serving = live.filter(({ phase }) => phase === 'ready');
  const ready = mine.filter(({ phase }) => phase === 'ready').length;
  const steps: Step[] = [];
  const kept = mine.toSorted(bestFirst).slice(0, wanted.instances);
  // Instances of other generations are started again as long as they are needed.
  const needed = others
    .filter(({ phase }) => phase === 'ended')
    .slice(0, Math.max(0, wanted.instances - serving.length));
  const ended = [
    ...kept.filter(({ phase }) => phase === 'ended' && failure === undefined),
    ...needed,
  ];
  let lookAgainMs: number | undefined;
  for (const one of ended) {
    const again = restartSteps(one, input);
    steps.push(...again.steps);
    lookAgainMs = earlier(lookAgainMs, again.lookAgainMs);
  }
  if (failure === undefined && mine.length < wanted.instances) {
    const startable = wanted.instances + SURGE - live.length - ended.length;
    const missing = wanted.instances - mine.length;
    for (let count = Math.min(startable, missing); count > 0; count--)
      steps.push({ kind: 'create' });
  }
  steps.push(...ends(input, { kept: [...kept, ...needed], others, serving }));
  const isComplete = ready === wanted.instances && instances.length === wanted.instances;
  return { steps, lookAgainMs, isComplete };
}

interface Parts {
  readonly kept: readonly InstanceView[];
  readonly others: readonly InstanceView[];
  readonly serving: readonly InstanceView[];
}

/** Ends those that are not needed: first what serves nobody, then one of those that serve, if enough others do. */
function ends(
  { instances, wanted, failure }: PlanInput,
  { kept, others, serving }: Parts,
): readonly Step[] {
  // A generation that has failed leaves the others as they are, and of itself what serves.
  const unneeded =
    failure === undefined || others.length === 0
      ? instances.filter((one) => !kept.includes(one))
      : instances.filter((one) => isOf(wanted)(one) && isLive(one) && one.phase !== 'ready');
  const steps: Step[] = [];
  let spare = serving.length - wanted.instances;
  for (const one of unneeded)
    if (one.phase !== 'ready' && one.phase !== 'unready') steps.push(...endingSteps(one));
    else if (one.phase === 'unready' || spare-- > 0) steps.push({ kind: 'retire', name: one.name });
  return steps;
}

const ORDER: readonly InstanceView['phase'][] = [
  'ready',
  'unready',
  'prepared',
  'starting',
  'ended',
];

function bestFirst(one: InstanceView, other: InstanceView): number {
  return ORDER.indexOf(one.phase) - ORDER.indexOf(other.phase);
}
