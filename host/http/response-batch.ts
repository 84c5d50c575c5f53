// ResponseBatch collects the responses of one turn of the event loop and writes them together at its end. Writing to
// a socket wakes the process at its other end, which is most of the cost of a write. Most writes that follow one
// another directly find that process awake.

/** A response to be written exactly once. `write` must not throw. */
export interface BatchedResponse {
  /** Writes the response. `endMs`: when the batch begins to be written, in milliseconds of the recorder's clock. */
  write(endMs: number): void;
}

export class ResponseBatch {
  readonly #endMs: () => number;
  #responses: BatchedResponse[] = [];

  constructor(endMs: () => number) {
    this.#endMs = endMs;
  }

  /** Writes the response before the next turn of the event loop, after those that were added earlier. */
  add(response: BatchedResponse): void {
    this.#responses.push(response);
    if (this.#responses.length === 1) setImmediate(() => this.#writeAll());
  }

  #writeAll(): void {
    const responses = this.#responses;
    this.#responses = [];
    const endMs = this.#endMs();
    for (const response of responses) response.write(endMs);
  }
}
