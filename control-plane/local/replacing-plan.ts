// ReplacingPlan: the plan for a service whose instances share a database, while there are rivals: instances of another cohort, which must not run
// beside the wanted ones. Requests are held, all rivals end, and the wanted instances start. If these fail, the rivals start again.
//
// Invariant: no instance is started while one of another cohort runs.
import { overlappingSteps } from './overlapping-plan.ts';
import { isLive, isOf, type InstanceView, type Plan, type PlanInput } from './plan-types.ts';
import { earlier, endingSteps, restartSteps } from './stop-steps.ts';

/** Returns whether there are rivals. */
export function isReplacing({ wanted, instances }: PlanInput): boolean {
  return wanted.cohort !== undefined && instances.some(({ cohort }) => cohort !== wanted.cohort);
}

/** Returns whether requests have to be held until an instance of the wanted cohort is ready. */
export function isReplacementHeld(input: PlanInput): boolean {
  const { rivals, allies } = partsOf(input);
  if (!isReplacing(input) || input.failure !== undefined || allies.some(isReady)) return false;
  return rivals.some(isLive) || allies.filter(isOf(input.wanted)).every(isFirstRun);
}

export function replacingSteps(input: PlanInput): Plan {
  const { rivals, allies } = partsOf(input);
  const mine = allies.filter(isOf(input.wanted));
  if (!rivals.some(isLive) && isForAllies(input, allies)) {
    const plan = overlappingSteps({ ...input, instances: allies });
    return { ...plan, steps: [...rivals.flatMap(endingSteps), ...plan.steps], isComplete: false };
  }
  if (input.failure !== undefined) return rivalsServe(input, mine, rivals);
  return rivals.some(isLive) ? rivalsEnd(input, mine, rivals) : starts(input, mine);
}

function partsOf({ instances, wanted }: PlanInput): {
  readonly rivals: readonly InstanceView[];
  readonly allies: readonly InstanceView[];
} {
  return {
    rivals: instances.filter(({ cohort }) => cohort !== wanted.cohort),
    allies: instances.filter(({ cohort }) => cohort === wanted.cohort),
  };
}

const isReady = ({ phase }: InstanceView): boolean => phase === 'ready';

const isFirstRun = (one: InstanceView): boolean => isLive(one) && one.failures === 0;

/** Whether rivals are of no use any more: an ally serves, or is about to in place of the wanted generation. */
function isForAllies({ failure, wanted }: PlanInput, allies: readonly InstanceView[]): boolean {
  const former = allies.filter((one) => !isOf(wanted)(one));
  if (failure !== undefined) return former.length > 0;
  return allies.some(isReady) || former.some(isLive);
}

const waiting = (steps: Plan['steps'] = [], lookAgainMs?: number): Plan => ({
  steps,
  lookAgainMs,
  isComplete: false,
});

/** Ends the instance once no request is sent to it. */
function leavingSteps(one: InstanceView): Plan['steps'] {
  return one.phase === 'unready' ? [{ kind: 'retire', name: one.name }] : endingSteps(one);
}

/** Ends the rivals, but first the instances that have tried to run beside them: their failure must not be taken for one without rivals. */
function rivalsEnd(
  { hold }: PlanInput,
  mine: readonly InstanceView[],
  rivals: readonly InstanceView[],
): Plan {
  const refused = mine.filter((one) => !isReady(one));
  if (refused.length > 0) return waiting(refused.flatMap(leavingSteps));
  return waiting(hold === 'acknowledged' ? rivals.filter(isLive).flatMap(endingSteps) : []);
}

/** All rivals have ended, and stay as they are until an instance is ready. */
function starts(
  { wanted, takeoverSinceMs, nowMs, limits }: PlanInput,
  mine: readonly InstanceView[],
): Plan {
  if (mine.some((one) => !isLive(one)))
    return waiting([{ kind: 'fail', reason: 'it ended when it had the database' }]);
  const missing = wanted.instances - mine.length;
  if (missing > 0) return waiting(Array.from({ length: missing }, () => ({ kind: 'create' })));
  if (takeoverSinceMs === undefined) return waiting();
  const leftMs = takeoverSinceMs + limits.takeoverMs - nowMs;
  if (leftMs > 0) return waiting([], Math.min(leftMs, limits.takeoverMs));
  const reason = `it was not ready ${limits.takeoverMs / 1000} s after it had the database`;
  return waiting([{ kind: 'fail', reason }]);
}

/** The wanted generation has failed: the rivals of the newest cohort serve again once none of it runs. */
function rivalsServe(
  input: PlanInput,
  mine: readonly InstanceView[],
  rivals: readonly InstanceView[],
): Plan {
  const live = mine.filter(isLive);
  if (live.length > 0) return waiting(live.flatMap(endingSteps));
  const { cohort } = rivals.find(isLive) ?? rivals.at(-1)!;
  const ended = rivals.filter((one) => one.cohort === cohort && !isLive(one));
  const again = ended.map((one) => restartSteps(one, input));
  return waiting(
    again.flatMap(({ steps }) => steps),
    again.map(({ lookAgainMs }) => lookAgainMs).reduce(earlier, undefined),
  );
}
