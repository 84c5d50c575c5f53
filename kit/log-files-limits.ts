// LogFilesLimits: how large the log files of a service may become, on disk and before they are.

export interface LogFilesLimits {
  /** Size of a log file, in bytes, beyond which a new one is begun. */
  readonly bytesMax: number;
  /** Number of log files, with the one that is written; older ones are removed. */
  readonly countMax: number;
  /** Bytes of lines that wait for a slow or full disk; further lines are counted and not written. */
  readonly waitingBytesMax: number;
}

export const LOG_FILES_DEFAULT: LogFilesLimits = {
  bytesMax: 10 * 1024 * 1024,
  countMax: 5,
  waitingBytesMax: 4 * 1024 * 1024,
};

const BYTES_MAX = 1024 * 1024 * 1024;

/** Minimum and maximum of each setting. */
export const LOG_FILES_RANGE: Readonly<Record<keyof LogFilesLimits, readonly [number, number]>> = {
  bytesMax: [4 * 1024, BYTES_MAX],
  countMax: [1, 1_000],
  waitingBytesMax: [64 * 1024, BYTES_MAX],
};
