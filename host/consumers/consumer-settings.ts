// ConsumerSettings bounds what a consumer does and holds at once, and decides how often an event is tried.

export interface ConsumerSettings {
  /** Events that a consumer handles at the same time. */
  readonly inFlight: number;
  /** Events that are read ahead of the position up to which all are settled. */
  readonly aheadMax: number;
  /** UTF-16 units of JSON text of these events; one page of the feed may exceed it. */
  readonly aheadUnitsMax: number;
  /** Parked lanes with which a consumer still goes on. */
  readonly parkedMax: number;
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
  inFlight: 64,
  aheadMax: 10_000,
  aheadUnitsMax: 16_777_216,
  parkedMax: 100_000,
  attemptsMax: 10,
  retryPauseMs: 1_000,
  retryPauseMaxMs: 300_000,
  unavailablePauseMs: 100,
  unavailablePauseMaxMs: 10_000,
  settleMs: 100,
};
