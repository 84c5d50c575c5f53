// LogLimits: the amount that a shard may write to the log.

export interface LogLimits {
  /** Lines of the log in a second; further ones are counted and not written. */
  readonly linesPerSecond: number;
  /** Bytes of the log in a second; further lines are counted and not written. */
  readonly bytesPerSecond: number;
  /** Capacity of both buckets, in seconds of their rates. */
  readonly burstSeconds: number;
  /** Bytes of lines that wait for the main thread to write them; further lines are counted and not written. */
  readonly waitingBytesMax: number;
}

export const LOG_LIMITS_DEFAULT: LogLimits = {
  linesPerSecond: 200,
  bytesPerSecond: 256 * 1024,
  burstSeconds: 5,
  waitingBytesMax: 4 * 1024 * 1024,
};

const COUNT_MAX = 1_000_000;
const BYTES_MAX = 1024 * 1024 * 1024;

/** Minimum and maximum of each setting. */
export const LOG_LIMITS_RANGE: Readonly<Record<keyof LogLimits, readonly [number, number]>> = {
  linesPerSecond: [1, COUNT_MAX],
  bytesPerSecond: [1024, BYTES_MAX],
  burstSeconds: [1, 3600],
  waitingBytesMax: [64 * 1024, BYTES_MAX],
};
