// ConsumerSettings bounds what a consumer does and holds at once, and decides how often an event is tried.

export interface ConsumerSettings {
  /** Events that each consumer handles at the same time. */
  readonly inFlight: number;
  /** Events that each consumer reads ahead of the position up to which all are settled. */
  readonly aheadMax: number;
  /** UTF-16 units of JSON text of these events, of all consumers of the service together; each may exceed its share by one page. */
  readonly aheadUnitsMax: number;
  /** Entities whose events may be parked while the consumer still continues. With twice as many that are parked or wait for another attempt, it reads no further events. */
  readonly parkedMax: number;
  /** Time in which a consumer has to answer, in milliseconds. */
  readonly answerTimeoutMs: number;
  /** Attempts of an event after which its lane is parked. */
  readonly attemptsMax: number;
  /** Longest pause after the first failed attempt, in milliseconds; it doubles with each further one. The pause itself is drawn at random between 0 and this. */
  readonly retryPauseMs: number;
  /** Greatest value to which `retryPauseMs` doubles, in milliseconds. */
  readonly retryPauseMaxMs: number;
  /** Pause before an event is delivered again that the runtime could not deliver, in milliseconds; it doubles each time. Such an attempt does not count. */
  readonly unavailablePauseMs: number;
  /** Longest of these pauses, in milliseconds. */
  readonly unavailablePauseMaxMs: number;
  /** Least time between two writes of the position and the lanes, in milliseconds. */
  readonly settleMs: number;
}

export const CONSUMER_SETTINGS_DEFAULT: ConsumerSettings = {
  inFlight: 128,
  aheadMax: 10_000,
  aheadUnitsMax: 16_777_216,
  parkedMax: 100_000,
  answerTimeoutMs: 60_000,
  attemptsMax: 10,
  retryPauseMs: 1_000,
  retryPauseMaxMs: 300_000,
  unavailablePauseMs: 100,
  unavailablePauseMaxMs: 10_000,
  settleMs: 100,
};

const DURATION_MS_MAX = 1_000_000_000;

/** Minimum and maximum of each setting. */
export const CONSUMER_SETTINGS_RANGE: Readonly<
  Record<keyof ConsumerSettings, readonly [number, number]>
> = {
  inFlight: [1, 10_000],
  aheadMax: [1, 1_000_000],
  aheadUnitsMax: [65_536, 1_073_741_824],
  parkedMax: [1, 10_000_000],
  answerTimeoutMs: [1, DURATION_MS_MAX],
  attemptsMax: [1, 1_000_000],
  retryPauseMs: [1, DURATION_MS_MAX],
  retryPauseMaxMs: [1, DURATION_MS_MAX],
  unavailablePauseMs: [1, DURATION_MS_MAX],
  unavailablePauseMaxMs: [1, DURATION_MS_MAX],
  settleMs: [1, DURATION_MS_MAX],
};

/** Returns the settings of one of a service's consumers. */
export function settingsOfOne(settings: ConsumerSettings, consumers: number): ConsumerSettings {
  return { ...settings, aheadUnitsMax: Math.ceil(settings.aheadUnitsMax / consumers) };
}
