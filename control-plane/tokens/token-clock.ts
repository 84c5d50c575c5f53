// TokenClock: the time for judging tokens. The wall clock decides on expiry times; the monotonic clock measures ages and
// pauses, and never goes back.

export interface TokenClock {
  /** Milliseconds since 1970. */
  nowMs(): number;
  monotonicMs(): number;
  /** Calls back once after the time. Returns a function that cancels this. */
  after(ms: number, callback: () => void): () => void;
}

export const SYSTEM_TOKEN_CLOCK: TokenClock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms).unref();
    return () => clearTimeout(timer);
  },
};
