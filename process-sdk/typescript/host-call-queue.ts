// HostCallQueue: the calls of all handlers of one stream. No more are without a result than the runtime takes; the others wait.
//
// Invariants
// Q1  Calls leave in the order in which they were made.
// Q2  Each call that was sent has one result, whatever became of its handler.

interface Waiting {
  readonly handler: number;
  readonly frame: Uint8Array;
  /** False: nothing answers the call, so that it does not count. */
  readonly hasResult: boolean;
}

export class HostCallQueue {
  /** The most calls without a result. */
  max = 0;
  readonly #send: (frame: Uint8Array) => void;
  #waiting: Waiting[] = [];
  #open = 0;

  constructor(send: (frame: Uint8Array) => void) {
    this.#send = send;
  }

  /** Sends the encoded call, now or when others have their results. `handler`: number of the handler's call. */
  add(handler: number, frame: Uint8Array, hasResult: boolean): void {
    this.#waiting.push({ handler, frame, hasResult });
    this.#sendNext();
  }

  /** Notes that a result has come. */
  settled(): void {
    this.#open = Math.max(0, this.#open - 1);
    this.#sendNext();
  }

  /** Drops the calls of a handler that wait: it has ended. */
  drop(handler: number): void {
    if (this.#waiting.length === 0) return;
    this.#waiting = this.#waiting.filter((waiting) => waiting.handler !== handler);
    this.#sendNext();
  }

  #sendNext(): void {
    let count = 0;
    for (const { frame, hasResult } of this.#waiting) {
      if (hasResult && this.#open >= this.max) break;
      if (hasResult) this.#open += 1;
      this.#send(frame);
      count++;
    }
    if (count > 0) this.#waiting = this.#waiting.slice(count);
  }
}
