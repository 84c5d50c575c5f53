// ProcessRun: which run of a process the streams of a service meet. All threads of the service share it: a stream to another run is not used while one to
// this run is open, so that no call depends on which of two processes it meets.
//
// Invariants
// R1  A run is known from its first stream until a stream to it is lost.
// R2  Without a run, the next stream decides: nobody waits for another thread.
import { createHash } from 'node:crypto';

const NONE = 0;

export class ProcessRun {
  readonly #cell: Int32Array;

  /** `shared`: memory of `newProcessRun`. */
  constructor(shared: SharedArrayBuffer) {
    this.#cell = new Int32Array(shared);
  }

  /** Returns whether a stream that has met a run may be used. */
  isMet(run: number): boolean {
    const known = Atomics.compareExchange(this.#cell, 0, NONE, run);
    return known === NONE || known === run;
  }

  /** A stream to the run was lost. */
  lost(run: number): void {
    Atomics.compareExchange(this.#cell, 0, run, NONE);
  }
}

/** Returns the memory of a run that is not known yet. */
export function newProcessRun(): SharedArrayBuffer {
  return new SharedArrayBuffer(4);
}

/** Returns the number of a run. `instance`: the text by which the process has named it. */
export function runOf(instance: string): number {
  return createHash('sha256').update(instance).digest().readInt32LE(0) || 1;
}
