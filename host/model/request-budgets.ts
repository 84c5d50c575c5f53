// RequestBudgets: what the requests of a service may keep in memory together, whichever of its threads serves them.
import { ByteBudget } from './byte-budget.ts';

export interface RequestBudgets {
  /** Responses until their callers have taken them, and what is kept for responses that wait for the disk. */
  readonly unsent: ByteBudget;
  /** Bodies of requests, until their handlers are done. */
  readonly bodies: ByteBudget;
}

/** The memory through which the threads of a service share their budgets. */
export interface SharedRequestBudgets {
  readonly unsent: SharedArrayBuffer;
  readonly bodies: SharedArrayBuffer;
}

export interface RequestBudgetLimits {
  readonly unsentBytesMax: number;
  /** The largest response, in bytes. */
  readonly responseBytesMax: number;
  readonly bodyBytesTotalMax: number;
}

export function sharedRequestBudgets(threads: number): SharedRequestBudgets {
  return { unsent: ByteBudget.shared(threads), bodies: ByteBudget.shared(threads) };
}

/** The budgets of the thread `thread`; without `shared`, those of the only thread. */
export function requestBudgets(
  { unsentBytesMax, responseBytesMax, bodyBytesTotalMax }: RequestBudgetLimits,
  shared = sharedRequestBudgets(1),
  thread = 0,
): RequestBudgets {
  return {
    unsent: new ByteBudget(unsentBytesMax, responseBytesMax, shared.unsent, thread),
    bodies: new ByteBudget(bodyBytesTotalMax, 0, shared.bodies, thread),
  };
}

/** Gives back what the thread kept, which has ended. */
export function requestThreadEnded(shared: SharedRequestBudgets, thread: number): void {
  ByteBudget.threadEnded(shared.unsent, thread);
  ByteBudget.threadEnded(shared.bodies, thread);
}
