// How long a build may take and how much memory it may use. A compiler that meets a program which it
// cannot finish would otherwise take its caller along.

export interface BuildLimits {
  /** Milliseconds until a build is given up. */
  readonly timeoutMs: number;
  /** Mebibytes of JavaScript heap that the compiler may use. */
  readonly heapMaxMb: number;
}

export const DEFAULT_BUILD_LIMITS: BuildLimits = { timeoutMs: 120_000, heapMaxMb: 2048 };
