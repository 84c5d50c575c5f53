// FiringAnswer: what the dispatcher learns of a firing.

export interface FiringAnswer {
  /**
   * - `settled`: an append has removed the timer, re-armed it, put it off or made it dead.
   * - `gone`: the timer was cancelled or replaced meanwhile. Nothing was stored.
   * - `unavailable`: the runtime could not execute the firing, for a reason of its own. Nothing was stored, and no attempt counts.
   */
  readonly outcome: 'settled' | 'gone' | 'unavailable';
  /** Why it was unavailable, for the log; undefined: nobody needs to know. */
  readonly reason?: string | undefined;
}
