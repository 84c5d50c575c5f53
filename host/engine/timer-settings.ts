// TimerSettings bounds the timers of a service, and decides how fast they are fired and how often a firing is tried.

export interface TimerSettings {
  /** Timers of the service, dead ones included; a command that would set more fails. */
  readonly max: number;
  /** Timers of one entity, dead ones included; a command that would set more fails. */
  readonly perEntityMax: number;
  /** Timers that one command may set and cancel. */
  readonly perEffectMax: number;
  /** Size of the input of a timer's command, in bytes. */
  readonly inputBytesMax: number;
  /** Firings of a timer that may fail until it is dead, unless the timer names its own number. */
  readonly attemptsMax: number;
  /** Longest pause after the first failed firing, in milliseconds; it doubles with each further one. The pause itself is drawn at random between 0 and this. */
  readonly retryPauseMs: number;
  /** Greatest value to which `retryPauseMs` doubles, in milliseconds. */
  readonly retryPauseMaxMs: number;
  /** Firings that are started in a second, on average; up to a tenth of them may start at once. */
  readonly firesPerSecond: number;
  /** Firings that are executed at the same time. */
  readonly inFlight: number;
  /** Pause before an entity is sent a firing again that the runtime could not execute, in milliseconds; it doubles each time. Such a firing counts as no attempt. */
  readonly unavailablePauseMs: number;
  /** Longest of these pauses, in milliseconds. */
  readonly unavailablePauseMaxMs: number;
}

export const TIMER_SETTINGS_DEFAULT: TimerSettings = {
  max: 10_000_000,
  perEntityMax: 1_000,
  perEffectMax: 100,
  inputBytesMax: 65_536,
  attemptsMax: 10,
  retryPauseMs: 1_000,
  retryPauseMaxMs: 300_000,
  firesPerSecond: 1_000,
  inFlight: 64,
  unavailablePauseMs: 100,
  unavailablePauseMaxMs: 10_000,
};

const DURATION_MS_MAX = 1_000_000_000;

/** Minimum and maximum of each setting. */
export const TIMER_SETTINGS_RANGE: Readonly<
  Record<keyof TimerSettings, readonly [number, number]>
> = {
  max: [0, 1_000_000_000],
  perEntityMax: [0, 1_000_000],
  perEffectMax: [0, 100_000],
  inputBytesMax: [0, 16_777_216],
  attemptsMax: [1, 1_000_000],
  retryPauseMs: [1, DURATION_MS_MAX],
  retryPauseMaxMs: [1, DURATION_MS_MAX],
  firesPerSecond: [1, 1_000_000],
  inFlight: [1, 10_000],
  unavailablePauseMs: [1, DURATION_MS_MAX],
  unavailablePauseMaxMs: [1, DURATION_MS_MAX],
};
