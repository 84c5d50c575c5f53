// InterruptibleSleeper lets a dispatcher sleep for a time, or until it has something to do. It gets no signal of a journal.
import { after } from '@svc/kit/after';
import type { ServiceClock } from '../engine/needs/clock.ts';
import type { Sleeper } from '../timers/dispatcher.ts';

export class InterruptibleSleeper implements Sleeper {
  readonly #after: ServiceClock['after'];
  #isInterrupted = false;
  #wake: (() => void) | undefined;

  /** `wait`: how it waits; default: by the machine's clock. */
  constructor(wait: ServiceClock['after'] = after) {
    this.#after = wait;
  }

  async sleep(ms: number): Promise<boolean> {
    await new Promise<void>((resolve) => {
      if (ms <= 0 || this.#isInterrupted) {
        setImmediate(resolve);
        return;
      }
      const cancel = this.#after(ms, resolve);
      this.#wake = () => {
        cancel();
        // In a later turn, so that interruptions of one turn are one wake-up.
        setImmediate(resolve);
      };
    });
    this.#wake = undefined;
    this.#isInterrupted = false;
    return false;
  }

  interrupt(): void {
    if (this.#isInterrupted) return;
    this.#isInterrupted = true;
    this.#wake?.();
  }
}
