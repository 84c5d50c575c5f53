// Firing: the execution of a due timer's command, as the dispatcher hands it to the owner of the target.
import type { StoredTimer } from '../engine/needs/timers.ts';

export interface Firing extends Pick<
  StoredTimer,
  | 'number'
  | 'owner'
  | 'name'
  | 'target'
  | 'command'
  | 'input'
  | 'dueMs'
  | 'attempts'
  | 'traceParent'
> {
  /** The number of failed firings after which the timer is dead. */
  readonly attemptsMax: number;
  /** The occurrence to re-arm the timer for when this one is settled; undefined: the timer is removed. */
  readonly rearmMs: number | undefined;
  /** The number of occurrences between `dueMs` and `rearmMs`, which are not fired. */
  readonly missed: number;
}

/**
 * How a firing ended:
 * - `settled`: an append has removed the timer, re-armed it, put it off or made it dead.
 * - `gone`: the timer was cancelled or replaced meanwhile. Nothing was stored.
 * - `unavailable`: the runtime could not execute it, for a reason of its own. Nothing was stored, and no attempt counts.
 */
export type FiringOutcome = 'settled' | 'gone' | 'unavailable';
