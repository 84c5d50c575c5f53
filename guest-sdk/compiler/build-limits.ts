// BuildLimits: the time and the memory of a build. Without limits, a program that the compiler cannot finish would
// block its caller or end it.

export interface BuildLimits {
  /** Milliseconds until a build is cancelled. */
  readonly timeoutMs: number;
  /** Mebibytes of JavaScript heap that the compiler may use. */
  readonly heapMaxMb: number;
}

export const DEFAULT_BUILD_LIMITS: BuildLimits = { timeoutMs: 120_000, heapMaxMb: 2048 };
