// The imports `clock.set-timer` and `clock.cancel-timer`, by which handlers change timers. A command changes the timers of
// its entity by its effect.
import type { Awaitable } from '@svc/model/call';
import type { GuestMemory } from './guest-memory.ts';
import {
  CALL_ERROR_SIZE,
  type ImportTarget,
  entered,
  payForMoving,
  settled,
  storeCallError,
} from './host-call.ts';
import { TIMER_SIZE, liftTimer } from './timer-values.ts';

/** Size of `result<_, call-error>`: tag 0, error 4. */
const RESULT_SIZE = 4 + CALL_ERROR_SIZE;

export function setTimer(target: ImportTarget, timer: number, result: number): Awaitable<void> {
  target.state.enterTimerCall('clock.set-timer');
  const { memory, calls } = entered(target);
  const address = memory.record(result, RESULT_SIZE, 4);
  const lifted = liftTimer(memory, memory.record(timer, TIMER_SIZE, 8));
  payForMoving(target);
  return changed(target, memory, address, () => calls.setTimer(lifted));
}

export function cancelTimer(
  target: ImportTarget,
  component: number,
  componentLength: number,
  id: number,
  idLength: number,
  name: number,
  nameLength: number,
  result: number,
): Awaitable<void> {
  target.state.enterTimerCall('clock.cancel-timer');
  const { memory, calls } = entered(target);
  const address = memory.record(result, RESULT_SIZE, 4);
  const owner = {
    component: memory.string(component, componentLength),
    id: memory.string(id, idLength),
  };
  const nameText = memory.string(name, nameLength);
  payForMoving(target);
  return changed(target, memory, address, () => calls.cancelTimer(owner, nameText));
}

function changed(
  target: ImportTarget,
  memory: GuestMemory,
  address: number,
  change: () => Awaitable<void>,
): Awaitable<void> {
  return settled(
    target,
    memory,
    change,
    (present) => present.storeU8(address, 0),
    (present, error) => {
      storeCallError(present, address + 4, error);
      present.storeU8(address, 1);
    },
  );
}
