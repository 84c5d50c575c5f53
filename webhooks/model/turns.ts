// Turns: has what concerns the same thing done one after the other.

export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Calls `work` once everything is done that was given for the key before, whatever became of it. */
  take<Value>(key: string, work: () => Promise<Value>): Promise<Value> {
    const before = this.#last.get(key);
    const done = before === undefined ? work() : before.then(work, work);
    this.#last.set(key, done);
    const forget = () => {
      if (this.#last.get(key) === done) this.#last.delete(key);
    };
    done.then(forget, forget);
    return done;
  }
}
