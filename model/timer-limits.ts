// TimerLimits bounds the timers that a journal holds. Dead timers count, because they can be started again.

export interface TimerLimits {
  /** Timers of the whole service; an append that would add more fails with SVC_TIMERS_FULL. */
  readonly max: number;
  /** Timers of one entity; an append after which it has more fails with SVC_TIMERS_FULL. */
  readonly perEntityMax: number;
}

export const TIMER_LIMITS_DEFAULT: TimerLimits = { max: 10_000_000, perEntityMax: 1_000 };
