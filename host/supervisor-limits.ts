// SupervisorLimits: how long the main thread waits for a shard, and between two of them.

export interface SupervisorLimits {
  /** How long in-flight requests may take to finish at a stop, in milliseconds. */
  readonly stopGraceMs: number;
  /** What a shard gets beyond the grace before its thread is ended, in milliseconds. */
  readonly stopMarginMs: number;
  /** Pause before a shard that ended by itself is started again, in milliseconds; it doubles each time. */
  readonly restartPauseMs: number;
  /** Longest of these pauses, in milliseconds. */
  readonly restartPauseMaxMs: number;
  /** A shard that has served this long starts again with the first pause, in milliseconds. */
  readonly healthyAfterMs: number;
}

export const SUPERVISOR_LIMITS_DEFAULT: SupervisorLimits = {
  stopGraceMs: 10_000,
  stopMarginMs: 2_000,
  restartPauseMs: 100,
  restartPauseMaxMs: 30_000,
  healthyAfterMs: 60_000,
};

const DURATION_MS_MAX = 1_000_000_000;

/** The least and the most that each can be set to. */
export const SUPERVISOR_LIMITS_RANGE: Readonly<
  Record<keyof SupervisorLimits, readonly [number, number]>
> = {
  stopGraceMs: [0, DURATION_MS_MAX],
  stopMarginMs: [0, DURATION_MS_MAX],
  restartPauseMs: [1, DURATION_MS_MAX],
  restartPauseMaxMs: [1, DURATION_MS_MAX],
  healthyAfterMs: [0, DURATION_MS_MAX],
};
