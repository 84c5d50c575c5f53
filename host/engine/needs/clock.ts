// What the engine needs of time and chance: it has none of its own, so a test can set both.

export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z, an integer. It may jump. */
  nowMs(): number;
}

export interface Chance {
  /** 64 random bits. */
  seed(): bigint;
}
