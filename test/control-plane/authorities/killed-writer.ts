// KilledWriter changes files as a process does that is killed after a number of steps.
import type { FileStep } from '../../../control-plane/authorities/file-steps.ts';

export class KilledWriter {
  #left: number;
  isKilled = false;

  constructor(steps: number) {
    this.#left = steps;
  }

  readonly carryOut = (steps: Iterable<FileStep>): void => {
    for (const step of steps) {
      if (this.#left-- <= 0) {
        this.isKilled = true;
        throw new Error('killed');
      }
      step();
    }
  };
}
