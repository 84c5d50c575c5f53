// LoopTurn: how long requests have kept the present turn of the event loop, and who waits for a later one.
// A module's code and what it asks of the host run to their end wherever nothing has to be waited for: so
// many of them in one turn would let no timer run, no answer leave and no connection in.
//
// Invariants: who waits goes on in the order of arrival, each once what the one before it did at once is
// done, and only while its turn has time left; but one of them goes on in every turn.
//
// A reading of the clock costs as much as a hundred lines of code: what was read when something ended is taken for the
// present when it is next asked whether the turn is used up, once, and unless a module has computed since.

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
  /** When what comes in in the turn was there; undefined: nobody has asked. */
  #arrivalMs: number | undefined;
  /** What was read last. */
  #latestMs = 0;
  /** It was read when something ended, and nothing was computed since, nor asked. */
  #isFresh = false;
  #waiting: (() => void)[] = [];
  readonly #end = (): void => {
    this.#startMs = undefined;
    if (this.#waiting.length === 0) return;
    this.#begin();
    // What comes in in this turn does so after those who have waited.
    this.#arrivalMs = undefined;
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
    if (!this.#isFresh) this.startMs();
    this.#isFresh = false;
    return this.#latestMs - this.#startMs > WORK_MS;
  }

  /** Milliseconds that never go back: something starts that may take long. */
  startMs(): number {
    this.#isFresh = false;
    return (this.#latestMs = this.#clock.nowMs());
  }

  /** Something has ended. */
  endMs(): number {
    this.#isFresh = true;
    return (this.#latestMs = this.#clock.nowMs());
  }

  /** Code of a module has run, perhaps for long, since something ended. */
  hasComputed(): void {
    this.#isFresh = false;
  }

  /** Since when what comes in in the present turn was there: the system hands all of it over at once. */
  arrivalMs(): number {
    if (this.#startMs === undefined) {
      this.#begin();
      this.#isFresh = true;
    }
    return (this.#arrivalMs ??= this.endMs());
  }

  /** What was read last in the present turn, which is its begin at the earliest. */
  latestMs(): number {
    this.arrivalMs();
    return this.#latestMs;
  }

  /** Resolves in a later turn. */
  next(): Promise<void> {
    if (this.#startMs === undefined) this.#begin();
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  #begin(): void {
    this.#isFresh = false;
    this.#startMs = this.#arrivalMs = this.#latestMs = this.#clock.nowMs();
    this.#clock.nextTurn(this.#end);
  }

  #goOn(): void {
    this.#waiting.shift()!();
    this.#clock.afterPromises(() => {
      if (this.#waiting.length > 0 && !this.isUsedUp()) this.#goOn();
    });
  }
}
