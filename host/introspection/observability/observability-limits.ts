// ObservabilityLimits: how much is kept of what a service does, and how it is exported.

export interface ObservabilityLimits {
  /** Spans that are kept, of all shards together; a new one takes the place of the oldest. */
  readonly ringCapacity: number;
  /** Spans that are under way to the receiver; more stay in the window until there is room. */
  readonly exportQueueMax: number;
  /** Milliseconds between two exports. */
  readonly exportIntervalMs: number;
  /** Milliseconds that one export may take. */
  readonly exportTimeoutMs: number;
}

export const OBSERVABILITY_LIMITS_DEFAULT: ObservabilityLimits = {
  ringCapacity: 10_000,
  exportQueueMax: 8_192,
  exportIntervalMs: 1_000,
  exportTimeoutMs: 10_000,
};

const MINUTE_MS = 60_000;

/** The least and the most that each can be set to. */
export const OBSERVABILITY_LIMITS_RANGE: Readonly<
  Record<keyof ObservabilityLimits, readonly [number, number]>
> = {
  ringCapacity: [256, 1_000_000],
  exportQueueMax: [1, 1_000_000],
  exportIntervalMs: [100, MINUTE_MS],
  exportTimeoutMs: [100, MINUTE_MS],
};
