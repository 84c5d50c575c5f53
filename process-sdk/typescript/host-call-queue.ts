// HostCallQueue: the calls of all handlers of one stream. No more are without a result than the runtime takes; the others wait.
//
// Invariants
// Q1  Calls leave in the order in which they were made.
// Q2  Each call that was sent has one result, whatever became of its handler.
// Q3  A call, a result and the end of a handler without waiting calls take constant time, however many calls wait.

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
  /** Index of the first call that waits. */
  #first = 0;
  /** Number of the calls that wait, by their handler. */
  readonly #counts = new Map<number, number>();
  #open = 0;

  constructor(send: (frame: Uint8Array) => void) {
    this.#send = send;
  }

  /** Sends the encoded call, now or when others have their results. `handler`: number of the handler's call. */
  add(handler: number, frame: Uint8Array, hasResult: boolean): void {
    this.#waiting.push({ handler, frame, hasResult });
    this.#counts.set(handler, (this.#counts.get(handler) ?? 0) + 1);
    this.#sendNext();
  }

  /** Notes that a result has come. */
  settled(): void {
    this.#open = Math.max(0, this.#open - 1);
    this.#sendNext();
  }

  /** Drops the calls of a handler that wait: it has ended. */
  drop(handler: number): void {
    if (!this.#counts.delete(handler)) return;
    this.#waiting = this.#waiting.slice(this.#first).filter((call) => call.handler !== handler);
    this.#first = 0;
    this.#sendNext();
  }

  #sendNext(): void {
    for (; this.#first < this.#waiting.length; this.#first++) {
      const { handler, frame, hasResult } = this.#waiting[this.#first]!;
      if (hasResult && this.#open >= this.max) break;
      if (hasResult) this.#open += 1;
      const count = this.#counts.get(handler)! - 1;
      if (count === 0) this.#counts.delete(handler);
      else this.#counts.set(handler, count);
      this.#send(frame);
    }
    if (this.#first * 2 < this.#waiting.length) return;
    this.#waiting = this.#waiting.slice(this.#first);
    this.#first = 0;
  }
}
