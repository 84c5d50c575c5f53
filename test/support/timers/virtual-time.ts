// VirtualTime is a wall clock that can be set, a monotonic clock, and a sleeper. Time passes only in `advance`, in steps
// from one event to the next, so that days pass in milliseconds.
import type { Clock } from '../../../host/engine/needs/clock.ts';
import type { Sleeper } from '../../../host/timers/dispatcher.ts';

interface Waiting {
  readonly atMs: number;
  readonly resolve: () => void;
}

/** Microtasks that the code under test may take between two events. */
const TURNS = 30;

export class VirtualTime implements Clock {
  readonly sleeper: VirtualSleeper;
  #wallMs: number;
  #monotonicMs = 0;
  #waiting: Waiting[] = [];

  constructor(wallMs: number, lateMs: () => number = () => 0) {
    this.#wallMs = wallMs;
    this.sleeper = new VirtualSleeper(this, lateMs);
  }

  nowMs(): number {
    return Math.floor(this.#wallMs);
  }

  monotonicMs(): number {
    return this.#monotonicMs;
  }

  /** Sets the wall clock, forward or back. */
  jump(byMs: number): void {
    this.#wallMs += byMs;
  }

  wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.at(this.#monotonicMs + ms, resolve);
    });
  }

  /** Calls `resolve` at a time of the monotonic clock, and returns a function that prevents that. */
  at(atMs: number, resolve: () => void): () => void {
    const waiting = { atMs, resolve };
    this.#waiting.push(waiting);
    return () => {
      this.#waiting = this.#waiting.filter((other) => other !== waiting);
    };
  }

  /** Lets time pass. `afterStep` is called after each event. */
  async advance(ms: number, afterStep: () => void = () => {}): Promise<void> {
    const endMs = this.#monotonicMs + ms;
    await settle();
    for (;;) {
      const next = this.#earliest();
      const atMs = Math.min(next?.atMs ?? Infinity, endMs);
      this.#wallMs += atMs - this.#monotonicMs;
      this.#monotonicMs = atMs;
      afterStep();
      if (next === undefined || next.atMs > endMs) return;
      this.#waiting = this.#waiting.filter((other) => other !== next);
      next.resolve();
      // oxlint-disable-next-line no-await-in-loop -- an event follows the other
      await settle();
    }
  }

  #earliest(): Waiting | undefined {
    return this.#waiting.reduce<Waiting | undefined>(
      (earliest, other) =>
        earliest !== undefined && earliest.atMs <= other.atMs ? earliest : other,
      undefined,
    );
  }
}

export class VirtualSleeper implements Sleeper {
  readonly #time: VirtualTime;
  readonly #lateMs: () => number;
  #isSignalled = false;
  #isInterrupted = false;
  #end: (() => void) | undefined;
  /** The longest sleep that was asked for, in milliseconds. */
  longestMs = 0;

  constructor(time: VirtualTime, lateMs: () => number) {
    this.#time = time;
    this.#lateMs = lateMs;
  }

  async sleep(ms: number): Promise<boolean> {
    this.longestMs = Math.max(this.longestMs, ms);
    // A timer of Node takes a millisecond at least.
    const untilMs = this.#time.monotonicMs() + Math.max(1, ms) + this.#lateMs();
    if (!this.#isSignalled && !this.#isInterrupted)
      await new Promise<void>((resolve) => {
        const prevent = this.#time.at(untilMs, resolve);
        this.#end = () => {
          prevent();
          resolve();
        };
      });
    this.#end = undefined;
    this.#isInterrupted = false;
    const isSignalled = this.#isSignalled;
    this.#isSignalled = false;
    return isSignalled;
  }

  interrupt(): void {
    this.#isInterrupted = true;
    this.#end?.();
  }

  signal(): void {
    this.#isSignalled = true;
    this.#end?.();
  }
}

async function settle(): Promise<void> {
  // oxlint-disable-next-line no-await-in-loop -- each turn lets promises settle
  for (let turn = 0; turn < TURNS; turn += 1) await Promise.resolve();
}
