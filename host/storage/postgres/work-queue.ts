// WorkQueue does one work after the other. A work that fails holds no other one up.

export class WorkQueue {
  /** Settles when the works that were added have settled; never rejects. */
  #last: Promise<unknown> = Promise.resolve();

  /** Does a work once those that were added before have settled. Settles as the work does. */
  add<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }

  /** Resolves once the works that were added have settled. */
  async idle(): Promise<void> {
    await this.#last;
  }
}
