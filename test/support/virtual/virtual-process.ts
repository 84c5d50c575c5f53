// VirtualProcess is a process on a machine of its own, in virtual time: code that runs in it has the clocks and the timers of the
// process, also after it has waited. A process can be stopped, its machine can be suspended, and it can be killed.
//
// Invariant: nothing of a process is executed while it is stopped, and nothing of it ever again once it is killed.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Random } from '../random.ts';
import type { VirtualTime } from './virtual-time.ts';

const CURRENT = new AsyncLocalStorage<VirtualProcess>();
/** Time at the beginning, in milliseconds since 1970. */
const START_MS = 1_700_000_000_000;
/** Longest time until a callback comes that waits for nothing but its turn, in milliseconds. */
const TURN_MS = 0.05;
/** Parts of a millisecond in which random times are drawn. */
const PARTS = 1_000;
/** Differences of clocks that come from rounding, in milliseconds. */
const ROUNDING_MS = 1e-6;

export interface Clocks {
  /** How fast the clocks of the machine are; 1 is right. */
  readonly rate: number;
  /** How far the wall clock is ahead, in milliseconds. */
  readonly aheadMs: number;
}

export class VirtualProcess {
  readonly name: string;
  readonly time: VirtualTime;
  readonly random: Random;
  readonly #rate: number;
  #aheadMs: number;
  /** By how much the wall clock was set, in milliseconds. */
  #setMs = 0;
  /** How long the machine was suspended in all, in milliseconds of its clock. */
  #suspendedMs = 0;
  #stopped: 'stopped' | 'suspended' | undefined;
  #stoppedAtMs = 0;
  #isDead = false;
  /** What would have happened while the process was stopped. */
  #held: (() => void)[] = [];
  /** When the last callback comes that waits for its turn. */
  #turnMs = 0;
  readonly #onDeath: (() => void)[] = [];

  constructor(name: string, time: VirtualTime, random: Random, clocks: Clocks) {
    this.name = name;
    this.time = time;
    this.random = random;
    this.#rate = clocks.rate;
    this.#aheadMs = clocks.aheadMs;
  }

  /** The process whose code runs; undefined outside of all. */
  static get current(): VirtualProcess | undefined {
    return CURRENT.getStore();
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  get isStopped(): boolean {
    return this.#stopped !== undefined;
  }

  /** Milliseconds of the monotonic clock, which stops while the machine is suspended. */
  get monotonicMs(): number {
    return this.#elapsedMs - this.#suspendedMs - this.#suspendedNowMs;
  }

  /** Milliseconds of the wall clock since 1970, with fractions. */
  get wallMs(): number {
    return START_MS + this.#elapsedMs + this.#aheadMs;
  }

  get #elapsedMs(): number {
    return this.time.nowMs * this.#rate;
  }

  get #suspendedNowMs(): number {
    return this.#stopped === 'suspended' ? (this.time.nowMs - this.#stoppedAtMs) * this.#rate : 0;
  }

  /** Calls a function in the process at once, as the simulation does from outside. */
  within<T>(call: () => T): T {
    return CURRENT.run(this, call);
  }

  /** Executes something in the process after so many milliseconds of real time, as a message that arrives. */
  arrives(afterMs: number, execute: () => void): void {
    this.time.after(afterMs, () => this.#execute(execute));
  }

  /** Executes something in the process after so many milliseconds of its monotonic clock. Returns a function that cancels this. */
  timer(ms: number, execute: () => void): () => void {
    let isCancelled = false;
    const dueMs = this.monotonicMs + ms;
    const elapsed = (): void => {
      if (isCancelled) return;
      const leftMs = dueMs - this.monotonicMs;
      if (leftMs > ROUNDING_MS) this.arrives(leftMs / this.#rate, elapsed);
      else execute();
    };
    this.arrives(ms / this.#rate, elapsed);
    return () => {
      isCancelled = true;
    };
  }

  /** Executes something in a later turn of the event loop of the process, in the order of the calls. */
  turn(execute: () => void): void {
    const nowMs = this.time.nowMs;
    this.#turnMs = Math.max(this.#turnMs, nowMs + this.drawMs(TURN_MS));
    this.arrives(this.#turnMs - nowMs, execute);
  }

  /** Draws a time below `boundMs`. */
  drawMs(boundMs: number): number {
    return (this.random.below(PARTS) / PARTS) * boundMs;
  }

  /** Sets the wall clock forward, or back. */
  setWall(byMs: number): void {
    this.#aheadMs += byMs;
    this.#setMs += byMs;
  }

  /** Sets the wall clock back to what it would be if it had never been set. */
  resetWall(): void {
    this.setWall(-this.#setMs);
  }

  /** Stops the process, or suspends the whole machine. */
  stop(how: 'stopped' | 'suspended'): void {
    if (this.#stopped !== undefined || this.#isDead) return;
    this.#stopped = how;
    this.#stoppedAtMs = this.time.nowMs;
  }

  /** Lets the process go on. */
  resume(): void {
    this.#suspendedMs += this.#suspendedNowMs;
    this.#stopped = undefined;
    const held = this.#held;
    this.#held = [];
    for (const execute of held) this.arrives(0, execute);
  }

  /** Calls a function when the process is killed. */
  onDeath(listener: () => void): void {
    this.#onDeath.push(listener);
  }

  kill(): void {
    if (this.#isDead) return;
    this.#isDead = true;
    this.#held = [];
    for (const listener of this.#onDeath) listener();
  }

  #execute(execute: () => void): void {
    if (this.#isDead) return;
    if (this.#stopped === undefined) CURRENT.run(this, execute);
    else this.#held.push(execute);
  }
}
