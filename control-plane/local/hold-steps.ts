// HoldSteps: the part of a plan that has the requests of a service held, and lets them continue.
//
// Invariants
// H1  Requests are held before the data folder goes from one instance to another, and until the next one serves. This is seen from what
//     runs, so a control plane that starts in the middle takes the hold up again.
// H2  Requests are held while an instance that has ended for the first time is started again, for `restartHoldMs` at most: a service
//     that ends again and again holds nothing.
import { isLive, isOf, type PlanInput, type Step } from './plan-types.ts';

/** `isHandOver`: whether an instance is to end because another one is prepared to take over from it. */
export function holdSteps(input: PlanInput, isHandOver: boolean): readonly Step[] {
  if (input.hold === 'none') return isToBeHeld(input, isHandOver) ? [{ kind: 'hold' }] : [];
  const isNeeded = isHandOver || (!isServed(input) && isAwaited(input));
  return isNeeded ? [] : [{ kind: 'release' }];
}

function isToBeHeld(input: PlanInput, isHandOver: boolean): boolean {
  // An instance that serves can do so until all routers can acknowledge the hold.
  if (isServed(input)) return isHandOver && input.haveRoutersGathered;
  return isHandOver || isStartedAgain(input) || (isTakingOver(input) && isInTime(input));
}

/** Whether an instance is about to serve; a hold that has begun goes on as long. */
function isAwaited(input: PlanInput): boolean {
  const { failure, instances, wanted } = input;
  const isFormerWanted =
    failure !== undefined && instances.some((one) => !isOf(wanted)(one) && !one.isRefused);
  return isFormerWanted || isTakingOver(input) || isStartedAgain(input);
}

const isServed = ({ instances }: PlanInput): boolean =>
  instances.some(({ phase }) => phase === 'ready');

/** Whether an instance of the wanted generation can have the data folder, which no other one has any more. */
function isTakingOver({ instances, wanted, failure, takeoverSinceMs }: PlanInput): boolean {
  const isNext = isOf(wanted);
  return (
    failure === undefined &&
    takeoverSinceMs !== undefined &&
    instances.every((one) => isNext(one) || !isLive(one)) &&
    instances.some((one) => isNext(one) && (one.phase === 'prepared' || one.phase === 'unready'))
  );
}

function isInTime({ takeoverSinceMs = 0, nowMs, limits }: PlanInput): boolean {
  return nowMs - takeoverSinceMs < limits.takeoverMs;
}

function isStartedAgain({ instances, unservedSinceMs, nowMs, limits }: PlanInput): boolean {
  return (
    unservedSinceMs !== undefined &&
    nowMs - unservedSinceMs < limits.restartHoldMs &&
    instances.some(({ failures, isRefused }) => failures <= 1 && !isRefused)
  );
}
