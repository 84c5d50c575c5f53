// FoldTurns: how much of the event loop the folding of journals takes, whoever folds. All replays of
// an engine together have one slice of a turn; those that want more wait in line, each for a turn.
import type { Clock } from '../needs/clock.ts';
import type { EventLoop } from '../needs/event-loop.ts';

const SLICE_MS = 10;
/** A clock of milliseconds does not see small folds. */
const SLICE_EVENTS = 1_000;

export class FoldTurns {
  readonly #clock: Clock;
  readonly #eventLoop: EventLoop;
  #spentMs = 0;
  #spentEvents = 0;
  /** Of the last one in line. */
  #last: Promise<void> = Promise.resolve();

  constructor(clock: Clock, eventLoop: EventLoop) {
    this.#clock = clock;
    this.#eventLoop = eventLoop;
  }

  /** Whether the slice of this turn is used up. */
  get isOver(): boolean {
    return this.#spentMs >= SLICE_MS || this.#spentEvents >= SLICE_EVENTS;
  }

  /** Resolves in a turn with a slice of its own. */
  next(): Promise<void> {
    this.#last = this.#last.then(() => this.#pass());
    return this.#last;
  }

  nowMs(): number {
    return this.#clock.nowMs();
  }

  /** Notes work that began at `sinceMs`, and answers how long it took. */
  spend(sinceMs: number, events: number): number {
    // The clock may jump.
    const tookMs = Math.max(0, this.#clock.nowMs() - sinceMs);
    this.#spentMs += tookMs;
    this.#spentEvents += events;
    return tookMs;
  }

  async #pass(): Promise<void> {
    await this.#eventLoop.yield();
    this.#spentMs = 0;
    this.#spentEvents = 0;
  }
}
