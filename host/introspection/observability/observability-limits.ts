// ObservabilityLimits: the size of the span window, and the limits of the span export.

export interface ObservabilityLimits {
  /** Spans that are kept, of all shards together; a new one replaces the oldest. */
  readonly ringCapacity: number;
  /** Spans that are being exported; more stay in the window until there is room. */
  readonly exportQueueMax: number;
  /** Pause between two exports, in milliseconds. */
  readonly exportIntervalMs: number;
  /** How long one export may take, in milliseconds. */
  readonly exportTimeoutMs: number;
}

export const OBSERVABILITY_LIMITS_DEFAULT: ObservabilityLimits = {
  ringCapacity: 10_000,
  exportQueueMax: 8_192,
  exportIntervalMs: 1_000,
  exportTimeoutMs: 10_000,
};

const MINUTE_MS = 60_000;

/** Minimum and maximum of each setting. */
export const OBSERVABILITY_LIMITS_RANGE: Readonly<
  Record<keyof ObservabilityLimits, readonly [number, number]>
> = {
  ringCapacity: [256, 1_000_000],
  exportQueueMax: [1, 1_000_000],
  exportIntervalMs: [100, MINUTE_MS],
  exportTimeoutMs: [100, MINUTE_MS],
};
