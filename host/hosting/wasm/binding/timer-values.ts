// Lifts timers and their changes. Offsets are those of the canonical ABI for wit/runtime.wit. The engine checks what the
// values mean: that the target exists, that a time is before the year 10,000.
import type { Due, Timer, TimerChange } from '@svc/model/timer';
import type { GuestMemory } from './guest-memory.ts';

/**
 * Size of `timer`, aligned to 8: name 0, target 8, command 24, input 32, due 40 (its payload 48), attempts 64 (its
 * value 68).
 */
export const TIMER_SIZE = 72;
/** Size of `timer-change`, aligned to 8: tag 0, payload 8. */
const CHANGE_SIZE = 8 + TIMER_SIZE;
const CHANGE_CASES = 2;
const CANCEL = 1;
const DUE = { at: 0, after: 1, every: 2 } as const;
const DUE_CASES = 4;

export function liftTimer(memory: GuestMemory, address: number): Timer {
  return {
    name: memory.stringAt(address),
    target: { component: memory.stringAt(address + 8), id: memory.stringAt(address + 16) },
    command: memory.stringAt(address + 24),
    input: memory.stringAt(address + 32),
    due: liftDue(memory, address + 40),
    attempts: memory.tag(address + 64, 2) === 1 ? memory.u32(address + 68) : undefined,
  };
}

function liftDue(memory: GuestMemory, address: number): Due {
  switch (memory.tag(address, DUE_CASES)) {
    case DUE.at:
      return { kind: 'at', atMs: memory.u64(address + 8) };
    case DUE.after:
      return { kind: 'after', afterMs: memory.u64(address + 8) };
    case DUE.every:
      return { kind: 'every', everyMs: memory.u64(address + 8) };
    default:
      return {
        kind: 'cron',
        expression: memory.stringAt(address + 8),
        zone: memory.stringAt(address + 16),
      };
  }
}

export function liftTimerChanges(
  memory: GuestMemory,
  pointer: number,
  length: number,
): TimerChange[] {
  const changes: TimerChange[] = [];
  let address = memory.list(pointer, length, CHANGE_SIZE, 8);
  for (let left = length >>> 0; left > 0; left--) {
    changes.push(
      memory.tag(address, CHANGE_CASES) === CANCEL
        ? { kind: 'cancel', name: memory.stringAt(address + 8) }
        : { kind: 'set', timer: liftTimer(memory, address + 8) },
    );
    address += CHANGE_SIZE;
  }
  return changes;
}
