// LoopTurn: how long requests have kept the present turn of the event loop, and who waits for a later one.
// A module's code and what it asks of the host run to their end wherever nothing has to be waited for: so
// many of them in one turn would let no timer run, no answer leave and no connection in.
//
// Invariants: who waits goes on in the order of arrival, each once what the one before it did at once is
// done, and only while its turn has time left; but one of them goes on in every turn.
//
// A reading of the clock costs as much as a hundred lines of code: what somebody has read is taken for the present,
// once, so that a turn that is used up takes on one request more at most.

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
  #latestMs = 0;
  /** It was read after it was last looked whether the turn is used up. */
  #isFresh = false;
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
    if (!this.#isFresh) this.nowMs();
    this.#isFresh = false;
    return this.#latestMs - this.#startMs > WORK_MS;
  }

  /** Milliseconds that never go back. */
  nowMs(): number {
    this.#isFresh = true;
    return (this.#latestMs = this.#clock.nowMs());
  }

  /** When the present turn was first asked about: by then the system had handed over all that comes in in it. */
  beginMs(): number {
    return this.#startMs ?? this.#begin();
  }

  /** What was read last in the present turn, or its begin. */
  latestMs(): number {
    const beginMs = this.beginMs();
    return Math.max(beginMs, this.#latestMs);
  }

  /** Resolves in a later turn. */
  next(): Promise<void> {
    this.beginMs();
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  #begin(): number {
    this.#isFresh = false;
    this.#startMs = this.#clock.nowMs();
    this.#clock.nextTurn(this.#end);
    return this.#startMs;
  }

  #goOn(): void {
    this.#waiting.shift()!();
    this.#clock.afterPromises(() => {
      if (this.#waiting.length > 0 && !this.isUsedUp()) this.#goOn();
    });
  }
}
