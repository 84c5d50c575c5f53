// Clock and RandomSource give the engine its time and its random numbers. The engine has no other source of either, so
// that a test can set both. The wall clock gives the times that are stored, and those that are compared with stored times. The
// monotonic clock measures pauses and budgets.

export interface WallClock {
  /** Milliseconds since 1970-01-01T00:00:00Z, an integer. It may jump. */
  nowMs(): number;
}

export interface MonotonicClock {
  /** Milliseconds that never go back, with fractions. Only differences mean something. */
  monotonicMs(): number;
}

export interface Clock extends WallClock, MonotonicClock {}

/** The time of a service in which a test lets time pass. The service also waits by it. */
export interface ServiceClock extends Clock {
  /** Calls `callback` once after `ms` milliseconds, and never before it returns. Returns a function that cancels this. */
  after(ms: number, callback: () => void): () => void;
  /**
   * Keeps time from passing until the function is called that it returns. A service calls it while a write is on its way to the
   * disk; absent: time passes meanwhile.
   */
  hold?(): () => void;
}

export interface RandomSource {
  /** Returns 64 random bits. */
  next64(): bigint;
}
