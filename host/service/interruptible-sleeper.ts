// InterruptibleSleeper lets a dispatcher sleep for a time, or until it has something to do. It gets no signal of a journal.
import type { Sleeper } from '../timers/dispatcher.ts';

export class InterruptibleSleeper implements Sleeper {
  #isInterrupted = false;
  #wake: (() => void) | undefined;

  async sleep(ms: number): Promise<boolean> {
    await new Promise<void>((resolve) => {
      if (ms <= 0 || this.#isInterrupted) {
        setImmediate(resolve);
        return;
      }
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
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
