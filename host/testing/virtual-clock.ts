// VirtualClock is a clock for tests, whose time passes when the test says so. What is due runs in the order of its times.
//
// Invariants
// V1  Time passes only once nothing is left that runs without waiting for time: promises, callbacks of setImmediate, and what
//     holds the clock, such as a write to the disk.
// V2  With a journal in memory, the same calls have the same effects in the same order each time.
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServiceClock } from '../engine/needs/clock.ts';

interface Waiting {
  readonly atMs: number;
  /** Callbacks of one time run in the order of their numbers. */
  readonly number: number;
  readonly callback: () => void;
}

/** 2027-01-15T08:00:00Z. */
const START_MS = 1_800_000_000_000;
/** Turns of the event loop without work that end the wait for what runs. Threads in memory wake each other within one. */
const QUIET_TURNS = 2;
/** Steps in which `until` lets time pass, in milliseconds: the first one, their growth, and the longest. */
const STEP_MIN_MS = 20;
const STEP_GROWTH = 1.02;
const STEP_MAX_MS = 500;
/** Virtual time after which `until` fails, in milliseconds: an hour. */
const UNTIL_MS_MAX = 3_600_000;
/** Real time for each step of `until`, in which threads and the disk go on, in milliseconds. */
const REAL_STEP_MS = 1;

export class VirtualClock implements ServiceClock {
  #startMs: number;
  #passedMs = 0;
  #lastNumber = 0;
  /** Number of holders that keep time from passing. */
  #holders = 0;
  /** In the order of their times, and then of their numbers. */
  readonly #waiting: Waiting[] = [];

  /** `startMs`: the time at first, in milliseconds since 1970-01-01T00:00:00Z. */
  constructor(startMs = START_MS) {
    this.#startMs = startMs;
  }

  nowMs(): number {
    return Math.floor(this.#startMs + this.#passedMs);
  }

  monotonicMs(): number {
    return this.#passedMs;
  }

  after(ms: number, callback: () => void): () => void {
    const atMs = this.#passedMs + Math.max(ms, 0);
    const waiting = { atMs, number: ++this.#lastNumber, callback };
    this.#waiting.splice(this.#indexOf(waiting), 0, waiting);
    return () => {
      const index = this.#indexOf(waiting);
      if (this.#waiting[index] === waiting) this.#waiting.splice(index, 1);
    };
  }

  hold(): () => void {
    let isHeld = true;
    this.#holders++;
    return () => {
      if (isHeld) this.#holders--;
      isHeld = false;
    };
  }

  /** Sets the wall clock forward by `ms` milliseconds, or back. The monotonic clock does not notice. */
  set(ms: number): void {
    this.#startMs += ms;
  }

  /** Number of callbacks that wait for their time. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Lets time pass, and everything happen that is due in it. With 0, what is due now and waits for nothing else happens. */
  async advance(ms: number): Promise<void> {
    const endMs = this.#passedMs + ms;
    await this.#quiet();
    for (let next = this.#next(endMs); next !== undefined; next = this.#next(endMs)) {
      this.#passedMs = Math.max(this.#passedMs, next.atMs);
      next.callback();
      // oxlint-disable-next-line no-await-in-loop -- what is due later may depend on what was due
      await this.#quiet();
    }
    this.#passedMs = Math.max(this.#passedMs, endMs);
  }

  /**
   * Lets time pass until the condition is met. Rejects after `limitMs` of virtual time. Each step takes a millisecond of real
   * time, so that threads and the disk get on, too.
   */
  async until(condition: () => boolean | Promise<boolean>, limitMs = UNTIL_MS_MAX): Promise<void> {
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

  /** Resolves once everything has happened that waits for no time. */
  async #quiet(): Promise<void> {
    for (let turns = 0; turns < QUIET_TURNS;) {
      // oxlint-disable-next-line no-await-in-loop -- one turn after the other
      await nextTurn();
      turns = this.#holders > 0 || isBusy() ? 0 : turns + 1;
    }
  }

  /** Takes the callback that is due first, if it is due at `endMs`. */
  #next(endMs: number): Waiting | undefined {
    const [first] = this.#waiting;
    return first !== undefined && first.atMs <= endMs ? this.#waiting.shift() : undefined;
  }

  /** Returns the index at which a callback is, or belongs. */
  #indexOf({ atMs, number }: Waiting): number {
    let [low, high] = [0, this.#waiting.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = this.#waiting[middle]!;
      if (other.atMs < atMs || (other.atMs === atMs && other.number < number)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Number of clocks of this process that wait for the next turn of the event loop. */
let clocksInTurn = 0;

/** Resolves in the next turn of the event loop. */
function nextTurn(): Promise<void> {
  clocksInTurn++;
  return new Promise((resolve) => {
    setImmediate(() => {
      clocksInTurn--;
      resolve();
    });
  });
}

/** Whether something else than a clock waits for the next turn: clocks that wait for each other would never end. */
function isBusy(): boolean {
  const resources = process.getActiveResourcesInfo();
  return resources.filter((kind) => kind === 'Immediate').length > clocksInTurn;
}
