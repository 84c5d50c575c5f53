// VirtualClock: time that passes when the test says so. What is due runs in the order of its times.
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../kit/clock.ts';

interface Timer {
  readonly atMs: number;
  readonly callback: () => void;
}

/** Turns of the event loop in which promises and the journal get on, before time passes. */
const TURNS = 3;
/** Steps in which `until` lets time pass, in milliseconds: the first one, their growth, and the longest. */
const STEP_MIN_MS = 20;
const STEP_GROWTH = 1.02;
const STEP_MAX_MS = 500;
/** Real time for each step of `until`, in which threads and the disk get on. */
const REAL_STEP_MS = 1;

export class VirtualClock implements Clock {
  #startMs: number;
  #passedMs = 0;
  readonly #timers = new Set<Timer>();

  constructor(startMs = 1_800_000_000_000) {
    this.#startMs = startMs;
  }

  nowMs(): number {
    return this.#startMs + this.#passedMs;
  }

  monotonicMs(): number {
    return this.#passedMs;
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { atMs: this.#passedMs + ms, callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Sets the wall clock forth, or back. */
  set(ms: number): void {
    this.#startMs += ms;
  }

  /** Number of callbacks that wait for their time. */
  get waiting(): number {
    return this.#timers.size;
  }

  /** Lets time pass, and everything that is due happen. */
  async advance(ms: number): Promise<void> {
    const endMs = this.#passedMs + ms;
    await turns();
    for (let next = this.#next(endMs); next !== undefined; next = this.#next(endMs)) {
      this.#timers.delete(next);
      this.#passedMs = Math.max(this.#passedMs, next.atMs);
      next.callback();
      // oxlint-disable-next-line no-await-in-loop -- what is due later may depend on what was due
      await turns();
    }
    this.#passedMs = endMs;
  }

  /** Lets time pass until the condition is met. Fails after the limit of virtual time. */
  async until(condition: () => boolean | Promise<boolean>, limitMs = 3_600_000): Promise<void> {
    const endMs = this.#passedMs + limitMs;
    let stepMs = STEP_MIN_MS;
    // oxlint-disable-next-line no-await-in-loop -- the condition changes with time
    while (!(await condition())) {
      if (this.#passedMs >= endMs)
        throw new Error(`not so within ${limitMs} ms of virtual time: ${String(condition)}`);
      // oxlint-disable-next-line no-await-in-loop -- the condition changes with time
      await this.advance(Math.round(stepMs));
      stepMs = Math.min(STEP_MAX_MS, stepMs * STEP_GROWTH);
      // oxlint-disable-next-line no-await-in-loop -- the condition changes with time
      await sleep(REAL_STEP_MS);
    }
  }

  #next(endMs: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers)
      if (timer.atMs <= endMs && (next === undefined || timer.atMs < next.atMs)) next = timer;
    return next;
  }
}

async function turns(): Promise<void> {
  // oxlint-disable-next-line no-await-in-loop -- one turn after the other
  for (let turn = 0; turn < TURNS; turn++) await nextTurn();
}
