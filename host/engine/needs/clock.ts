// Clock and RandomSource are what the engine needs of time and chance. It has neither of its own, so that a test can set both.

export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z, an integer. It may jump. */
  nowMs(): number;
}

export interface RandomSource {
  /** Returns 64 random bits. */
  next64(): bigint;
}
