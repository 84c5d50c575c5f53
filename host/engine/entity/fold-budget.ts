// FoldBudget limits how long the folds of one engine may occupy the event loop. All folds share one budget, which is
// renewed only after it was spent: folds then wait in line, and each continues in a turn of the event loop of its own,
// with the whole budget.
import type { MonotonicClock } from '../needs/clock.ts';
import type { EventLoop } from '../needs/event-loop.ts';
import { stopping } from './stopping.ts';

/** How long folds may take together until the budget is renewed, in milliseconds. */
const BUDGET_MS = 10;
/** The number of events after which the budget is spent too. It bounds folds that the clock measures as 0 ms. */
const BUDGET_EVENTS = 1_000;

export class FoldBudget {
  readonly #clock: MonotonicClock;
  readonly #eventLoop: EventLoop;
  #spentMs = 0;
  #spentEvents = 0;
  #isCancelled = false;
  /** Resolves when the last fold in line continues. */
  #last: Promise<void> = Promise.resolve();

  constructor(clock: MonotonicClock, eventLoop: EventLoop) {
    this.#clock = clock;
    this.#eventLoop = eventLoop;
  }

  /** Whether nothing is left of the budget, or folds have been cancelled. Then a fold has to wait for `renewed`. */
  get isSpent(): boolean {
    return this.#isCancelled || this.#spentMs >= BUDGET_MS || this.#spentEvents >= BUDGET_EVENTS;
  }

  /** Whether the folds have been cancelled. */
  get isCancelled(): boolean {
    return this.#isCancelled;
  }

  /** Cancels all folds: each ends before its next batch, with SVC_STOPPING. */
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

  /** Returns the time at which a batch begins, for `spend`. */
  begin(): number {
    return this.#clock.monotonicMs();
  }

  /**
   * Charges the budget for a batch of `events` events that began at `sinceMs`. Returns how many milliseconds it took.
   */
  spend(sinceMs: number, events: number): number {
    const tookMs = this.#clock.monotonicMs() - sinceMs;
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
