// TimerLimits bounds the timers that a journal holds. Dead timers count, because they can be started again.

export interface TimerLimits {
  /** Timers of the whole service; an append that would add more fails with SVC_TIMERS_FULL. */
  readonly timersMax: number;
  /** Timers of one entity; an append after which it has more fails with SVC_TIMERS_FULL. */
  readonly timersPerEntityMax: number;
}

export const TIMER_LIMITS_DEFAULT: TimerLimits = {
  timersMax: 10_000_000,
  timersPerEntityMax: 1_000,
};
