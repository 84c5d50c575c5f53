// FiringAnswer: what the dispatcher learns of a firing.

export interface FiringAnswer {
  /**
   * - `settled`: an append has removed the timer, re-armed it, put it off or made it dead.
   * - `gone`: the timer was cancelled or replaced meanwhile. Nothing was stored.
   * - `moved`: this node does not hold the lease of the target, or hands it over: the node that has it fires the timer. Nothing was
   *   stored, and no attempt counts.
   * - `unavailable`: the runtime could not execute the firing, for a reason of its own. Nothing was stored, and no attempt counts.
   */
  readonly outcome: 'settled' | 'gone' | 'moved' | 'unavailable';
  /** Why it was unavailable, for the log; undefined: nobody needs to know. */
  readonly reason?: string | undefined;
}
