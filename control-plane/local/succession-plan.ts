// SuccessionPlan: the plan for a service with a data folder, which one instance at a time may have. The next instance prepares
// beside the present one, requests are held, the present one ends, and the next one opens the journal.
import {
  isLive,
  isOf,
  type InstanceView,
  type Plan,
  type PlanInput,
  type Step,
} from './plan-types.ts';
import { earlier, endingSteps, restartSteps } from './stop-steps.ts';

export function successionSteps(input: PlanInput): Plan {
  const { failure } = input;
  const { next, mine, others } = partsOf(input);
  const extra = mine.filter((one) => one !== next).flatMap(endingSteps);
  const overtaken = failure === undefined ? overtakenSteps(next, others) : [];
  const plan =
    failure === undefined || others.length === 0
      ? succession(input, next, others)
      : formerServes(input, next, others);
  return { ...plan, steps: [...extra, ...overtaken, ...plan.steps] };
}

/** Returns whether the next instance is prepared to take over from one that has the data folder. */
export function isHandOver(input: PlanInput): boolean {
  const { next, others } = partsOf(input);
  return input.failure === undefined && next?.phase === 'prepared' && others.some(isLive);
}

function partsOf({ instances, wanted }: PlanInput): {
  readonly next: InstanceView | undefined;
  readonly mine: readonly InstanceView[];
  readonly others: readonly InstanceView[];
} {
  const isWanted = isOf(wanted);
  const mine = instances.filter(isWanted);
  const next = mine.find((one) => one.phase === 'ready') ?? mine.findLast(isLive) ?? mine.at(-1);
  return { next, mine, others: instances.filter((one) => !isWanted(one)) };
}

/** An instance in these phases needs no other one to serve until it is ready, or serves. */
const NEAR: ReadonlySet<InstanceView['phase']> = new Set(['prepared', 'unready', 'ready']);

const isWaiting = ({ phase }: InstanceView): boolean =>
  phase === 'starting' || phase === 'prepared';

const NOTHING: { readonly steps: readonly Step[]; readonly lookAgainMs: number | undefined } = {
  steps: [],
  lookAgainMs: undefined,
};

const waiting = (steps: readonly Step[] = [], lookAgainMs?: number): Plan => ({
  steps,
  lookAgainMs,
  isComplete: false,
});

/** The wanted generation takes over from the others. */
function succession(
  input: PlanInput,
  next: InstanceView | undefined,
  others: readonly InstanceView[],
): Plan {
  const present = others.filter((one) => isLive(one) && !isWaiting(one));
  if (next === undefined || next.phase === 'starting' || next.phase === 'ended') {
    const former = others.some(isLive) ? undefined : others.at(-1);
    const again = former === undefined ? NOTHING : restartSteps(former, input);
    const own = ownSteps(input, next, others);
    return waiting([...own.steps, ...again.steps], earlier(own.lookAgainMs, again.lookAgainMs));
  }
  if (next.phase === 'ready') {
    const steps = others.flatMap(endingSteps);
    return { steps, lookAgainMs: undefined, isComplete: others.length === 0 };
  }
  if (next.phase !== 'prepared' && next.phase !== 'unready') return waiting();
  if (!others.some(isLive)) return takeover(input, others);
  return next.phase === 'prepared' ? handOver(input, present) : waiting();
}

/** Makes the next instance, or starts it again, until the generation has failed. */
function ownSteps(
  input: PlanInput,
  next: InstanceView | undefined,
  others: readonly InstanceView[],
): typeof NOTHING {
  const { failure } = input;
  if (failure !== undefined || next?.phase === 'starting') return NOTHING;
  if (next === undefined) return { ...NOTHING, steps: [{ kind: 'create' }] };
  if (others.length === 0 || others.some(isLive)) return restartSteps(next, input);
  // Another try would end the former instance again.
  const reason = 'it ended when it had the data folder';
  return { ...NOTHING, steps: [{ kind: 'fail', reason }] };
}

/** Ends other instances that wait in the way of the next one; without one that serves, the newest of them stays until the next is prepared. */
function overtakenSteps(
  next: InstanceView | undefined,
  others: readonly InstanceView[],
): readonly Step[] {
  const inTheWay = others.filter(isWaiting);
  const isNextNear = next !== undefined && NEAR.has(next.phase);
  const isServed = others.some((one) => isLive(one) && !isWaiting(one));
  return (isNextNear || isServed ? inTheWay : inTheWay.slice(0, -1)).flatMap(endingSteps);
}

/** The next instance is prepared, and the present one has the data folder. */
function handOver({ hold }: PlanInput, present: readonly InstanceView[]): Plan {
  return waiting(hold === 'acknowledged' ? present.flatMap(endingSteps) : []);
}

/** The data folder is free. If the next instance does not become ready with it, the former one gets it back. */
function takeover(input: PlanInput, others: readonly InstanceView[]): Plan {
  const { takeoverSinceMs, nowMs, limits } = input;
  if (others.length === 0 || takeoverSinceMs === undefined) return waiting();
  const leftMs = takeoverSinceMs + limits.takeoverMs - nowMs;
  if (leftMs > 0) return waiting([], Math.min(leftMs, limits.takeoverMs));
  const reason = `it was not ready ${limits.takeoverMs / 1000} s after it had the data folder`;
  return waiting([{ kind: 'fail', reason }]);
}

/** The wanted generation has failed: the newest of the others serves. */
function formerServes(
  input: PlanInput,
  next: InstanceView | undefined,
  others: readonly InstanceView[],
): Plan {
  const former =
    others.find((one) => one.phase === 'ready') ?? others.findLast(isLive) ?? others.at(-1)!;
  const rest = others.filter((one) => one !== former).flatMap(endingSteps);
  // The failed instance is kept for its output once it has ended.
  const failed = next !== undefined && isLive(next) ? endingSteps(next) : [];
  const again = former.phase === 'ended' ? restartSteps(former, input) : NOTHING;
  return waiting([...failed, ...rest, ...again.steps], again.lookAgainMs);
}
