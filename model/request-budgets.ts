// RequestBudgets: the memory that the requests of a service may hold together, in all of its threads.
import { ByteBudget } from './byte-budget.ts';

export interface RequestBudgets {
  /**
   * Bytes of responses until their callers have received them, of answers that wait for the disk, and of the inputs of
   * unfinished calls (KeptBytes).
   */
  readonly unsent: ByteBudget;
  /** Bytes of request bodies until their handlers are done. */
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

/** Returns the budgets of the thread with this index; without `shared`, those of a single thread. */
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

/** Releases the bytes that a terminated thread held. `thread`: its index. */
export function requestThreadEnded(shared: SharedRequestBudgets, thread: number): void {
  ByteBudget.threadEnded(shared.unsent, thread);
  ByteBudget.threadEnded(shared.bodies, thread);
}
