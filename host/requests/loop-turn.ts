// LoopTurn: how long requests have kept the present turn of the event loop, and who waits for a later one.
// A module's code and what it asks of the host run to their end wherever nothing has to be waited for: so
// many of them in one turn would let no timer run, no answer leave and no connection in.
//
// Invariants: who waits goes on in the order of arrival, each once what the one before it did at once is
// done, and only while its turn has time left; but one of them goes on in every turn.
//
// A reading of the clock costs as much as a hundred lines of code: what somebody has read is taken for the present
// until it was asked about once, so that at most one request's work comes on top of a turn that is used up.

/** For so long a turn takes on more work, in milliseconds. */
const WORK_MS = 10;

export interface LoopClock {
  /** Milliseconds that never go back. */
  nowMs(): number;
  /** Calls back in the next turn of the event loop. */
  nextTurn(callback: () => void): void;
  /** Calls back when whatever goes on at once, by promises, has gone on. */
  afterPromises(callback: () => void): void;
}

const LOOP_CLOCK: LoopClock = {
  nowMs: () => performance.now(),
  nextTurn: setImmediate,
  // A tick that a promise asks for comes when no promise has anything left to do.
  afterPromises: (callback) => queueMicrotask(() => process.nextTick(callback)),
};

export class LoopTurn {
  readonly #clock: LoopClock;
  /** When the turn was first asked about; undefined: not yet in this turn. */
  #startMs: number | undefined;
  /** What was read and not yet asked about; before all time: nothing. */
  #readMs = -Infinity;
  #waiting: (() => void)[] = [];
  readonly #end = (): void => {
    this.#startMs = undefined;
    if (this.#waiting.length === 0) return;
    this.#begin();
    this.#goOn();
  };

  constructor(clock: LoopClock = LOOP_CLOCK) {
    this.#clock = clock;
  }

  /** Whether work that can wait should wait for a later turn. */
  isUsedUp(): boolean {
    if (this.#startMs === undefined) {
      this.#begin();
      return false;
    }
    const nowMs = this.#readMs >= this.#startMs ? this.#readMs : this.#clock.nowMs();
    this.#readMs = -Infinity;
    return nowMs - this.#startMs > WORK_MS;
  }

  /** Milliseconds that never go back. */
  nowMs(): number {
    return (this.#readMs = this.#clock.nowMs());
  }

  /** When the present turn was first asked about: by then the system had handed over all that comes in in it. */
  beginMs(): number {
    if (this.#startMs === undefined) this.#begin();
    return this.#startMs!;
  }

  /** Resolves in a later turn. */
  next(): Promise<void> {
    if (this.#startMs === undefined) this.#begin();
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  #begin(): void {
    this.#startMs = this.#clock.nowMs();
    this.#clock.nextTurn(this.#end);
  }

  #goOn(): void {
    this.#waiting.shift()!();
    this.#clock.afterPromises(() => {
      if (this.#waiting.length > 0 && !this.isUsedUp()) this.#goOn();
    });
  }
}
