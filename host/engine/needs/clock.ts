// Clock and random source of the engine: it has none of its own, so that a test can set both.

export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z, an integer. It may jump. */
  nowMs(): number;
}

export interface RandomSource {
  /** Answers 64 random bits. */
  next64(): bigint;
}
