// FoldBudget limits how long the folds of one engine may occupy the event loop. All of them share one budget for each
// turn of the event loop. Once the budget is spent, folds wait in line, and each continues in a turn of its own.
import type { Clock } from '../needs/clock.ts';
import type { EventLoop } from '../needs/event-loop.ts';
import { stopping } from './stopping.ts';

/** How long folds may take in one turn of the event loop, in milliseconds. */
const BUDGET_MS = 10;
/** The number of events after which the budget is spent too. It bounds folds that the clock measures as 0 ms. */
const BUDGET_EVENTS = 1_000;

export class FoldBudget {
  readonly #clock: Clock;
  readonly #eventLoop: EventLoop;
  #spentMs = 0;
  #spentEvents = 0;
  #isCancelled = false;
  /** Resolves when the last fold in line continues. */
  #last: Promise<void> = Promise.resolve();

  constructor(clock: Clock, eventLoop: EventLoop) {
    this.#clock = clock;
    this.#eventLoop = eventLoop;
  }

  /** Whether nothing is left of the budget of this turn, or folds have been cancelled. */
  get isSpent(): boolean {
    return this.#isCancelled || this.#spentMs >= BUDGET_MS || this.#spentEvents >= BUDGET_EVENTS;
  }

  /** Whether the folds have been cancelled. */
  get isCancelled(): boolean {
    return this.#isCancelled;
  }

  /** Cancels all folds: each ends at its next wait. */
  cancel(): void {
    this.#isCancelled = true;
  }

  /**
   * Waits in line, and resolves in a turn of the event loop with a fresh budget. Rejects with SVC_STOPPING once folds
   * are cancelled.
   */
  renewed(): Promise<void> {
    this.#last = this.#last.then(() => this.#renew());
    return this.#last;
  }

  nowMs(): number {
    return this.#clock.nowMs();
  }

  /**
   * Charges the budget for a fold of `events` events that began at `sinceMs`. Returns how many milliseconds it took.
   */
  spend(sinceMs: number, events: number): number {
    // The clock may jump.
    const tookMs = Math.max(0, this.#clock.nowMs() - sinceMs);
    this.#spentMs += tookMs;
    this.#spentEvents += events;
    return tookMs;
  }

  async #renew(): Promise<void> {
    await this.#eventLoop.yield();
    if (this.#isCancelled) throw stopping();
    this.#spentMs = 0;
    this.#spentEvents = 0;
  }
}
