// Serial: runs tasks one after the other, in the order in which they are given.

export class Serial {
  #last: Promise<unknown> = Promise.resolve();

  /** Resolves and rejects as the task does. */
  run<Value>(task: () => Promise<Value>): Promise<Value> {
    const result = this.#last.then(task);
    this.#last = result.catch(() => {});
    return result;
  }
}
