// TimerChange: creates the changes of timers that a command or a handler asks for. The types of a program's arguments
// are checked here, because a program in JavaScript may pass any value; the engine checks the values.
import type { Timer, TimerChange } from '@svc/model/timer';
import { DeferredCall } from './deferred-call.ts';
import { Due } from './due.ts';

export interface TimerOptions {
  /** Number of attempts of a firing before the timer is dead. Absent: as many as the settings say. */
  readonly attempts?: number;
}

/** Throws TypeError for an argument of another type. */
export function timerOf(
  name: string,
  due: Due,
  call: DeferredCall,
  { attempts }: TimerOptions = {},
): Timer {
  if (!(due instanceof Due))
    throw new TypeError(
      `${labelOf(name)}: its due time is not one of Due, such as Due.after(1_000)`,
    );
  if (!(call instanceof DeferredCall))
    throw new TypeError(`${labelOf(name)}: its call is not one of callOf(entity, id) or self`);
  return { name: nameOf(name), ...call.stored, due: due.stored, attempts };
}

export function setTimer(...timer: Parameters<typeof timerOf>): TimerChange {
  return { kind: 'set', timer: timerOf(...timer) };
}

/** Throws TypeError for a name that is no text. */
export function cancelTimer(name: string): TimerChange {
  return { kind: 'cancel', name: nameOf(name) };
}

function labelOf(name: unknown): string {
  return `timer '${String(name)}'`;
}

export function nameOf(name: unknown): string {
  if (typeof name === 'string') return name;
  throw new TypeError(`the name of a timer is a text, found ${typeof name}`);
}
