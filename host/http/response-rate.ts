// ResponseRate: checks whether the other end of a connection reads its responses fast enough, on average. The
// process sees only the bytes that leave it, and they leave in bursts: the system's buffers take the first
// megabytes of a response at once, and then nothing until a good part of them is free. So bytes beyond the
// minimum rate become credit, up to the size of those buffers. While most of the service's budget is used,
// there is no credit except the grace. While the budget is exhausted, the minimum rate grows: the connections
// that keep it full are cut, the slowest first.
import type { ServerConnection } from '@svc/http1';
import type { ByteBudget } from '@svc/model/byte-budget';
import type { RateTimes } from './http-settings.ts';

const MS_PER_SECOND = 1_000;
/** Bytes that a connection gives to its socket at once, and whose progress is not visible. */
const PIECE_BYTES = 64 * 1024;
/** Most bytes that the operating system buffers for a connection: the default maximum of Linux. */
const SYSTEM_BYTES_MAX = 4 * 1024 * 1024;

/** Largest factor by which the minimum rate grows while the budget is exhausted. */
const FACTOR_MAX = 64;

/** How urgently the service needs its callers to read their responses. */
export interface RatePressure {
  /** Whether more than half of the budget is used. */
  readonly isHigh: boolean;
  /** Factor of the minimum rate, 1 to 64. */
  readonly factor: number;
}

/** Returns the pressure at the next sweep: the factor doubles while the budget is exhausted, and halves otherwise. */
export function nextPressure(
  before: RatePressure,
  unsent: Pick<ByteBudget, 'total' | 'bytesMax' | 'isUsedUp'>,
): RatePressure {
  return {
    isHigh: unsent.total * 2 > unsent.bytesMax,
    factor: unsent.isUsedUp
      ? Math.min(before.factor * 2, FACTOR_MAX)
      : Math.max(before.factor / 2, NO_PRESSURE.factor),
  };
}

export const NO_PRESSURE: RatePressure = { isHigh: false, factor: 1 };

/** Counter of a connection: bytes of its responses that have left the process since it began. */
type Progress = Pick<ServerConnection, 'takenBytes'>;

export class ResponseRate {
  readonly #connection: Progress;
  readonly #bytesPerMs: number;
  readonly #graceBytes: number;
  /** Bytes that have left the process for the operating system, as of the latest sweep. */
  #leftBytes = 0;
  #creditBytes: number;

  constructor(
    { bytesPerSecondMin, rateGraceMs }: Pick<RateTimes, 'bytesPerSecondMin' | 'rateGraceMs'>,
    connection: Progress,
  ) {
    this.#connection = connection;
    this.#bytesPerMs = bytesPerSecondMin / MS_PER_SECOND;
    // The counters change only when a whole piece has left.
    this.#graceBytes = this.#bytesPerMs * rateGraceMs + PIECE_BYTES;
    this.#creditBytes = this.#graceBytes;
  }

  /**
   * Returns whether the other end is too slow. `ms`: milliseconds since the latest sweep if bytes waited for the other
   * end, else 0.
   */
  isTooLow(ms: number, { isHigh, factor }: RatePressure): boolean {
    const leftBytes = this.#connection.takenBytes;
    const takenBytes = leftBytes - this.#leftBytes;
    this.#leftBytes = leftBytes;
    const creditMax = this.#graceBytes + (isHigh ? 0 : SYSTEM_BYTES_MAX);
    const dueBytes = this.#bytesPerMs * factor * ms;
    this.#creditBytes = Math.min(this.#creditBytes + takenBytes - dueBytes, creditMax);
    return this.#creditBytes < 0;
  }
}
