// TimerAlarm is memory that the journal's writer shares with the thread that fires timers. That thread says until when it
// sleeps, and the writer wakes it when a timer is stored that is due earlier. While the thread is awake, the writer
// counts every append that stores a due time, so that none is overlooked between the thread's look and its sleep.
import type { ServiceClock } from '../engine/needs/clock.ts';

/** Index of the count of wakings in the 32-bit numbers of the memory. */
const COUNT = 0;
/** Index of the time in the 64-bit numbers of the memory. */
const UNTIL = 1;
const BYTES = 16;
/** Later than any due time: the thread is awake, or does not run yet. */
const AWAKE = 2n ** 62n;

export class TimerAlarm {
  readonly #counts: Int32Array;
  readonly #times: BigInt64Array;

  readonly #clock: ServiceClock | undefined;

  /**
   * `shared`: memory of another thread's TimerAlarm; without it, new memory is allocated. `clock`: the clock by which `sleep`
   * waits; without it, that of the machine.
   */
  constructor(shared?: SharedArrayBuffer, clock?: ServiceClock) {
    this.#clock = clock;
    const memory = shared ?? new SharedArrayBuffer(BYTES);
    this.#counts = new Int32Array(memory);
    this.#times = new BigInt64Array(memory);
    if (shared === undefined) this.#times[UNTIL] = AWAKE;
  }

  /** Memory to create another thread's TimerAlarm with. */
  get shared(): SharedArrayBuffer {
    return this.#counts.buffer as SharedArrayBuffer;
  }

  /** Called by the writer once timers are on disk. `earliestMs`: when the earliest one is fired; Infinity: there is none. */
  stored(earliestMs: number): void {
    if (earliestMs >= Number(Atomics.load(this.#times, UNTIL))) return;
    this.wake();
  }

  /** Wakes the thread that fires timers, and all that wait for a change. */
  wake(): void {
    Atomics.add(this.#counts, COUNT, 1);
    Atomics.notify(this.#counts, COUNT);
  }

  /**
   * Called by the thread that fires timers before it reads them. Returns the count that `sleep` takes: what is stored after
   * this call is read, or ends the sleep at once.
   */
  look(): number {
    Atomics.store(this.#times, UNTIL, AWAKE);
    return Atomics.load(this.#counts, COUNT);
  }

  /**
   * Resolves at `untilMs`, when the first timer is due, after `timeoutMs`, or when a timer was stored that is due earlier.
   * Does not keep the thread alive. `count` comes from `look`.
   */
  async sleep(count: number, untilMs: number, timeoutMs: number): Promise<void> {
    const until = BigInt(Math.ceil(Math.min(untilMs, Number(AWAKE) / 2)));
    Atomics.store(this.#times, UNTIL, until);
    // A notification ends the wait, even if the count is the same.
    const cancel = this.#clock?.after(timeoutMs, () => Atomics.notify(this.#counts, COUNT));
    await this.changed(count, cancel === undefined ? timeoutMs : Infinity);
    cancel?.();
    Atomics.store(this.#times, UNTIL, AWAKE);
  }

  /** Resolves when the count is no longer `count`, or after `timeoutMs`. */
  async changed(count: number, timeoutMs = Infinity): Promise<void> {
    await Atomics.waitAsync(this.#counts, COUNT, count, timeoutMs).value;
  }
}
