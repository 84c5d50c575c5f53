// Clock and RandomSource give the engine its time and its random numbers. The engine has no other source of either, so
// that a test can set both.

export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z, an integer. It may jump. */
  nowMs(): number;
}

export interface RandomSource {
  /** Returns 64 random bits. */
  next64(): bigint;
}
