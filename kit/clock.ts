// Clock: the time for what waits, ages or expires. The wall clock decides on times that others have set; the monotonic clock
// measures ages and pauses, and never goes back.

export interface Clock {
  /** Milliseconds since 1970. */
  nowMs(): number;
  monotonicMs(): number;
  /** Calls back once after the time. Returns a function that cancels this. */
  after(ms: number, callback: () => void): () => void;
}

export const SYSTEM_CLOCK: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms).unref();
    return () => clearTimeout(timer);
  },
};
