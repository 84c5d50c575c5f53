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
  const { instances, wanted, failure } = input;
  const isWanted = isOf(wanted);
  const others = instances.filter((one) => !isWanted(one));
  const mine = instances.filter(isWanted);
  const next = mine.find((one) => one.phase === 'ready') ?? mine.findLast(isLive) ?? mine.at(-1);
  const extra = mine.filter((one) => one !== next).flatMap(endingSteps);
  // Other generations that have served nobody yet are in the way of the next instance.
  const overtaken = failure === undefined ? others.filter(isWaiting).flatMap(endingSteps) : [];
  const plan =
    failure === undefined || others.length === 0
      ? succession(input, next, others)
      : formerServes(input, next, others);
  return { ...plan, steps: [...extra, ...overtaken, ...plan.steps] };
}

const isWaiting = ({ phase }: InstanceView): boolean =>
  phase === 'starting' || phase === 'prepared';

const NOTHING = { steps: [], lookAgainMs: undefined };

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
  const { failure, hold } = input;
  const present = others.filter((one) => isLive(one) && !isWaiting(one));
  if (next === undefined) return waiting(failure === undefined ? [{ kind: 'create' }] : []);
  if (next.phase === 'ended') {
    // Without it no request has to wait for the end of the present one.
    const release: readonly Step[] = hold === 'none' ? [] : [{ kind: 'release' }];
    if (failure !== undefined) return waiting(release);
    const again = restartSteps(next, input);
    // Nobody has the data folder: until the next instance can have it, the former one does.
    const former = others.some(isLive) ? undefined : others.at(-1);
    const formerAgain = former === undefined ? NOTHING : restartSteps(former, input);
    return waiting(
      [...release, ...again.steps, ...formerAgain.steps],
      earlier(again.lookAgainMs, formerAgain.lookAgainMs),
    );
  }
  if (next.phase === 'ready') {
    const release: readonly Step[] = hold === 'none' ? [] : [{ kind: 'release' }];
    const steps = [...release, ...others.flatMap(endingSteps)];
    return { steps, lookAgainMs: undefined, isComplete: others.length === 0 };
  }
  if (next.phase !== 'prepared') return waiting();
  return !others.some(isLive) ? takeover(input, others) : handOver(input, present);
}

/** The next instance is prepared, and the present one has the data folder. */
function handOver({ hold }: PlanInput, present: readonly InstanceView[]): Plan {
  if (hold === 'none') return waiting([{ kind: 'hold' }]);
  if (hold === 'asked') return waiting();
  return waiting(present.flatMap(endingSteps));
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
  const release: readonly Step[] =
    input.hold !== 'none' && former.phase === 'ready' ? [{ kind: 'release' }] : [];
  const again = former.phase === 'ended' ? restartSteps(former, input) : NOTHING;
  return waiting([...failed, ...rest, ...release, ...again.steps], again.lookAgainMs);
}
