// JournalLimits bounds the disk space of the journal of a service.

export interface JournalLimits {
  /**
   * Bytes of the journal; a command that would store more fails with SVC_JOURNAL_FULL. 0: as many as the
   * disk has. The write-ahead log beside it, some 32 MiB, is not counted.
   */
  readonly bytesMax: number;
}

const GIB = 1024 * 1024 * 1024;

export const JOURNAL_LIMITS_DEFAULT: JournalLimits = { bytesMax: 10 * GIB };

/** The least and the greatest value of each limit. */
export const JOURNAL_LIMITS_RANGE: Readonly<
  Record<keyof JournalLimits, readonly [number, number]>
> = { bytesMax: [0, Number.MAX_SAFE_INTEGER] };
