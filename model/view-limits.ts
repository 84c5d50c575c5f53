// ViewLimits bound what the views of a service store, and what one query of them returns.

export interface ViewLimits {
  /**
   * Bytes of all view files of a service together; a write that would store more fails with SVC_VIEWS_FULL, and its view
   * stays where it is. 0: as many as the disk has. The write-ahead log beside each file, some 32 MiB, is not counted.
   */
  readonly bytesMax: number;
  /** UTF-8 bytes of a row's JSON text. */
  readonly rowBytesMax: number;
  /** UTF-8 bytes of a row's key, and of a text in an indexed field. */
  readonly keyBytesMax: number;
  /** The most rows that one page of a query may have. */
  readonly pageRowsMax: number;
  /** UTF-8 bytes of the keys and rows of one page. A page ends before the row that would exceed them, but has at least one row. */
  readonly pageBytesMax: number;
  /** How long a query waits until its view has the events that its caller has stored, in milliseconds. */
  readonly waitMs: number;
  /** Bytes that have to be free on the disk for a view to be built; with fewer the building pauses. */
  readonly freeBytesMin: number;
  /** How long the file of a definition that is no longer used is kept, in milliseconds. */
  readonly keptMs: number;
  /**
   * How long a view that follows the events waits for further ones to fold with an event, in milliseconds. A query that has to have what its caller
   * has stored ends the wait. Rows that change several times meanwhile are written once.
   */
  readonly groupMs: number;
}

const KIB = 1024;
const MIB = 1024 * KIB;
const GIB = 1024 * MIB;

export const VIEW_LIMITS_DEFAULT: ViewLimits = {
  bytesMax: 10 * GIB,
  rowBytesMax: 256 * KIB,
  keyBytesMax: KIB,
  pageRowsMax: 1_000,
  pageBytesMax: MIB,
  waitMs: 2_000,
  freeBytesMin: GIB,
  keptMs: 86_400_000,
  groupMs: 0,
};

/** The least and the greatest value of each limit. */
export const VIEW_LIMITS_RANGE: Readonly<Record<keyof ViewLimits, readonly [number, number]>> = {
  bytesMax: [0, Number.MAX_SAFE_INTEGER],
  rowBytesMax: [64, 64 * MIB],
  keyBytesMax: [64, 8 * KIB],
  pageRowsMax: [1, 10_000],
  pageBytesMax: [KIB, 64 * MIB],
  waitMs: [0, 60_000],
  freeBytesMin: [0, Number.MAX_SAFE_INTEGER],
  keptMs: [0, 31_536_000_000],
  groupMs: [0, 60_000],
};
