// AlarmSleeper lets the dispatcher sleep until a timer is due, and ends the sleep when the journal stores one that is due earlier
// or a firing ends.
//
// Invariant: a timer that is stored after the last sleep ends the next one at once, so none is overlooked in between.
import type { Sleeper } from '../timers/dispatcher.ts';

/** The alarm of a journal, as storage/timer-alarm.ts implements it. */
export interface Alarm {
  /** Returns the count of its wakings. */
  look(): number;
  /** Resolves at `untilMs` by the wall clock, after `timeoutMs`, or when the count is no longer `count`. */
  sleep(count: number, untilMs: number, timeoutMs: number): Promise<void>;
  wake(): void;
}

export class AlarmSleeper implements Sleeper {
  readonly #alarm: Alarm;
  readonly #nowMs: () => number;
  #count: number;
  #isAsleep = false;
  #isInterrupted = false;
  /** The number of times that `interrupt` has woken the alarm since the last sleep began. */
  #ownWakings = 0;

  constructor(alarm: Alarm, nowMs: () => number) {
    this.#alarm = alarm;
    this.#nowMs = nowMs;
    this.#count = alarm.look();
  }

  async sleep(ms: number): Promise<boolean> {
    if (ms > 0 && !this.#isInterrupted) {
      this.#isAsleep = true;
      await this.#alarm.sleep(this.#count, this.#nowMs() + ms, ms);
      this.#isAsleep = false;
    } else
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    this.#isInterrupted = false;
    const count = this.#alarm.look();
    // The count has 32 bits, and wraps.
    const signals = ((count - this.#count) | 0) - this.#ownWakings;
    this.#count = count;
    this.#ownWakings = 0;
    return signals > 0;
  }

  interrupt(): void {
    if (this.#isInterrupted) return;
    this.#isInterrupted = true;
    if (!this.#isAsleep) return;
    this.#ownWakings++;
    this.#alarm.wake();
  }
}
