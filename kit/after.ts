// After calls back after a time, by the clock of the machine.

/** Calls `callback` once after `ms` milliseconds. Returns a function that cancels this. */
export function after(ms: number, callback: () => void): () => void {
  const timer = setTimeout(callback, ms);
  return () => clearTimeout(timer);
}
