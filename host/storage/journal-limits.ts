// JournalLimits bounds the disk space of the journal of a service, and the time of its end.

export interface JournalLimits {
  /**
   * Bytes of the journal; a command that would store more fails with SVC_JOURNAL_FULL. 0: as many as the
   * disk has. The write-ahead log beside it, some 32 MiB, is not counted.
   */
  readonly bytesMax: number;
  /**
   * How long a stop waits for a database that does not answer before the connections are cut, in milliseconds. Statements that were sent may
   * have an effect all the same, and the lease of the instance ends by itself.
   */
  readonly closeMs: number;
}

const GIB = 1024 * 1024 * 1024;
const DURATION_MS_MAX = 1_000_000_000;

export const JOURNAL_LIMITS_DEFAULT: JournalLimits = { bytesMax: 10 * GIB, closeMs: 3_000 };

/** The least and the greatest value of each limit. */
export const JOURNAL_LIMITS_RANGE: Readonly<
  Record<keyof JournalLimits, readonly [number, number]>
> = { bytesMax: [0, Number.MAX_SAFE_INTEGER], closeMs: [0, DURATION_MS_MAX] };
