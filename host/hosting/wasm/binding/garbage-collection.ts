// collectGarbage runs V8's garbage collector at once. V8 sees the small objects of an instance, not the megabytes of its
// memory, so by itself it collects released instances only after gigabytes.

/**
 * Frees the memory of every object of this thread that is not reachable. It blocks the thread for some milliseconds.
 * Without the function `gc`, which the threads of `svc run` have, it does nothing.
 */
export function collectGarbage(): void {
  globalThis.gc?.();
}
