// SupervisorLimits: how much time and memory a shard's thread may take, and how long the main thread waits for it and
// between restarts.

export interface SupervisorLimits {
  /** How long in-flight requests may take to finish at a stop, in milliseconds. */
  readonly stopGraceMs: number;
  /** How long a shard may take beyond the grace before its thread is ended, in milliseconds. */
  readonly stopMarginMs: number;
  /** How long a shard may take to start its module, and again to listen, in milliseconds; its thread is ended beyond. */
  readonly startTimeoutMs: number;
  /** Pause between two questions whether a shard still answers, in milliseconds. */
  readonly heartbeatMs: number;
  /** How long a shard may leave such a question without an answer, in milliseconds; its thread is ended beyond. More than the longest computing that `svc.wasm.*-fuel` allows. */
  readonly hangAfterMs: number;
  /** Objects of the host that a shard may keep, in MiB; its thread is ended beyond. The memory of modules is not among them. */
  readonly shardHeapMib: number;
  /** Pause before a shard that ended is started again, in milliseconds; it doubles each time. */
  readonly restartPauseMs: number;
  /** Longest of these pauses, in milliseconds. */
  readonly restartPauseMaxMs: number;
  /** How long a shard has to serve until the ends of earlier ones count half as much, in milliseconds. */
  readonly restartHalfLifeMs: number;
}

export const SUPERVISOR_LIMITS_DEFAULT: SupervisorLimits = {
  stopGraceMs: 10_000,
  stopMarginMs: 2_000,
  startTimeoutMs: 30_000,
  heartbeatMs: 1_000,
  hangAfterMs: 30_000,
  shardHeapMib: 1_024,
  restartPauseMs: 100,
  restartPauseMaxMs: 30_000,
  restartHalfLifeMs: 600_000,
};

const DURATION_MS_MAX = 1_000_000_000;

/** Minimum and maximum of each setting. */
export const SUPERVISOR_LIMITS_RANGE: Readonly<
  Record<keyof SupervisorLimits, readonly [number, number]>
> = {
  stopGraceMs: [0, DURATION_MS_MAX],
  stopMarginMs: [0, DURATION_MS_MAX],
  startTimeoutMs: [1, DURATION_MS_MAX],
  heartbeatMs: [10, 60_000],
  hangAfterMs: [100, DURATION_MS_MAX],
  shardHeapMib: [64, 65_536],
  restartPauseMs: [1, DURATION_MS_MAX],
  restartPauseMaxMs: [1, DURATION_MS_MAX],
  restartHalfLifeMs: [1, DURATION_MS_MAX],
};
