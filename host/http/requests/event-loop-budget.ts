// EventLoopBudget limits how long the requests of a thread compute in one turn of its event loop. Handlers and the calls
// they make run synchronously wherever they have nothing to wait for. Without a limit, many of them in one turn would delay
// timers, responses and new connections.
//
// Invariant: callers of `yield` continue in the order of their calls. The next caller continues when everything that
// the caller before it did without waiting is done, and only while the budget of the turn lasts; but at least one
// caller continues in every turn.
import type { ServiceClock } from '../../engine/needs/clock.ts';
import type { EventLoop } from '../../engine/needs/event-loop.ts';

/** How long a turn of the event loop takes on new work, in milliseconds. */
const BUDGET_MS = 10;

export interface EventLoopClock {
  /** Milliseconds that never go back. */
  nowMs(): number;
  /** Calls `callback` in the next turn of the event loop. */
  nextTurn(callback: () => void): void;
  /** Calls `callback` when all reactions to settled promises have run. */
  afterPromises(callback: () => void): void;
}

const SYSTEM: EventLoopClock = {
  nowMs: () => performance.now(),
  nextTurn: setImmediate,
  // A callback that a microtask passes to process.nextTick runs when the queue of microtasks is empty.
  afterPromises: (callback) => queueMicrotask(() => process.nextTick(callback)),
};

/** Returns a clock of the event loop that passes as `monotonicMs` does: in a test whose time stands still, no budget is used up. */
export function loopClock(clock: Pick<ServiceClock, 'monotonicMs'>): EventLoopClock {
  return { ...SYSTEM, nowMs: () => clock.monotonicMs() };
}

export class EventLoopBudget implements EventLoop {
  readonly #clock: EventLoopClock;
  /** When this turn's first work began; undefined while there was none in this turn. */
  #startMs: number | undefined;
  #waiting: (() => void)[] = [];
  /** Resolves when the next work of `alone` may begin; undefined: at once. */
  #alone: Promise<void> | undefined;
  readonly #endTurn = (): void => {
    this.#startMs = undefined;
    if (this.#waiting.length === 0) return;
    this.#begin();
    this.#continueNext();
  };

  constructor(clock: EventLoopClock = SYSTEM) {
    this.#clock = clock;
  }

  /** Whether new work should yield first. The first call in a turn begins the turn's budget. */
  isUsedUp(): boolean {
    if (this.#startMs === undefined) {
      this.#begin();
      return false;
    }
    return this.#clock.nowMs() - this.#startMs > BUDGET_MS;
  }

  /** Resolves in a later turn, after the earlier callers have continued. */
  yield(): Promise<void> {
    if (this.#startMs === undefined) this.#begin();
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  /**
   * Runs `work` when the work of all earlier calls has settled, and everything that followed from it without waiting is
   * done: a caller has used its result before the work of the next caller begins. Work that had to wait yields first if
   * the budget is used up.
   */
  alone<T>(work: () => Promise<T>): Promise<T> {
    const begin = () => (this.isUsedUp() ? this.yield().then(work) : work());
    const done = this.#alone === undefined ? work() : this.#alone.then(begin);
    const handedOn = () =>
      new Promise<void>((resolve) => {
        this.#clock.afterPromises(resolve);
      });
    const next = done.then(handedOn, handedOn).then(() => {
      if (this.#alone === next) this.#alone = undefined;
    });
    this.#alone = next;
    return done;
  }

  #begin(): void {
    this.#startMs = this.#clock.nowMs();
    this.#clock.nextTurn(this.#endTurn);
  }

  #continueNext(): void {
    this.#waiting.shift()!();
    this.#clock.afterPromises(() => {
      if (this.#waiting.length > 0 && !this.isUsedUp()) this.#continueNext();
    });
  }
}
