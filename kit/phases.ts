// Phases are the parts of a program that start one after the other and stop in reverse order: servers, files, threads,
// timers.
//
// Invariants
// P1  A phase starts after the one before it has started. Once the stop is asked for, no further phase starts.
// P2  A phase whose start began is stopped once, even if its start or the stop of another phase fails.
// P3  A phase is stopped after its start has settled.

/** One part of a program. A part without `start` is ready at once; a part without `stop` holds no resource. */
export interface Phase {
  /** `signal` aborts when the program is to stop: a start that takes long settles then. */
  start?(signal: AbortSignal): Promise<void> | void;
  stop?(): Promise<void> | void;
}

export class Phases {
  readonly #phases: readonly Phase[];
  /** Phases whose start began, and that are not stopped yet. */
  readonly #begun: Phase[] = [];
  readonly #stopRequest = new AbortController();
  #isStarting = false;
  #starting: Promise<void> | undefined;
  #stopping: Promise<void> | undefined;

  constructor(phases: readonly Phase[]) {
    this.#phases = phases;
  }

  /**
   * Starts the phases in order. Resolves when all have started or, after the stop was asked for, when the current start
   * has settled. Rejects with the failure of a start; the caller has to call `stop` then as well. A further call
   * returns the promise of the first.
   */
  start(): Promise<void> {
    if (this.#starting === undefined) {
      const started = Promise.withResolvers<void>();
      // A phase may call `stop` while it starts, and `stop` waits for this promise.
      this.#starting = started.promise;
      started.resolve(this.#start());
    }
    return this.#starting;
  }

  /**
   * Stops the phases in reverse order. The stop of the last phase begins before this function returns, unless a start
   * is under way. Rejects with the first failure once every phase is stopped. A further call waits for the
   * first.
   */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #start(): Promise<void> {
    const { signal } = this.#stopRequest;
    this.#isStarting = true;
    try {
      for (const phase of this.#phases) {
        if (signal.aborted) return;
        this.#begun.push(phase);
        await phase.start?.(signal);
      }
    } finally {
      this.#isStarting = false;
    }
  }

  async #stop(): Promise<void> {
    this.#stopRequest.abort();
    // The caller of `start` receives the failure of a start.
    if (this.#isStarting) await this.#starting?.catch(() => {});
    const failures: unknown[] = [];
    for (let phase = this.#begun.pop(); phase !== undefined; phase = this.#begun.pop())
      try {
        await phase.stop?.();
      } catch (failure) {
        failures.push(failure);
      }
    if (failures.length > 0) throw failures[0];
  }
}
