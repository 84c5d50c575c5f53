// ResponseRate: whether the other end of a connection takes its responses fast enough, on average. What it takes is seen by
// what leaves the process, and that comes in lumps: the buffers of the system take the first megabytes of a response at once,
// and then nothing until a good part of them is free. So what was taken beyond the least rate is credit, as much as
// those buffers hold. While the service has little room left, there is no credit but for the grace, and while it has none,
// the least rate grows: the callers that keep it full are cut, the slowest first.
import type { Socket } from 'node:net';
import type { ByteBudget } from '../model/byte-budget.ts';
import type { ConnectionTimes } from './http-settings.ts';
import { PIECE_BYTES } from './response-writer.ts';

const S_MS = 1_000;
/** Most bytes that the operating system buffers for a connection: Linux's own limit. */
const SYSTEM_BYTES_MAX = 4 * 1024 * 1024;

/** Largest factor by which the least rate grows while there is no room left. */
const FACTOR_MAX = 64;

/** How urgently the service needs its callers to take their responses. */
export interface RatePressure {
  /** Whether more than half of the budget is used. */
  readonly isHigh: boolean;
  /** Factor of the least rate that callers have to reach, 1 to 64. */
  readonly factor: number;
}

/** The pressure at the next look: the factor doubles while there is no room left, and halves while there is. */
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

/** The counters of a socket. A stand-in without counters is never too slow. */
type Progress = Pick<Socket, 'bytesWritten' | 'writableLength'>;

export class ResponseRate {
  readonly #socket: Progress;
  readonly #bytesPerMs: number;
  readonly #graceBytes: number;
  /** Bytes handed to the operating system, as of the latest look. */
  #leftBytes = 0;
  #creditBytes: number;

  constructor(
    { bytesPerSecondMin, rateGraceMs }: Pick<ConnectionTimes, 'bytesPerSecondMin' | 'rateGraceMs'>,
    socket: Progress,
  ) {
    this.#socket = socket;
    this.#bytesPerMs = bytesPerSecondMin / S_MS;
    // A piece is seen to leave when it has left whole.
    this.#graceBytes = this.#bytesPerMs * rateGraceMs + PIECE_BYTES;
    this.#creditBytes = this.#graceBytes;
  }

  /** Whether the other end is too slow. `ms`: time since the latest look during which bytes have waited for it. */
  isTooLow(ms: number, { isHigh, factor }: RatePressure): boolean {
    const leftBytes = this.#socket.bytesWritten - this.#socket.writableLength;
    const takenBytes = leftBytes - this.#leftBytes;
    this.#leftBytes = leftBytes;
    const creditMax = this.#graceBytes + (isHigh ? 0 : SYSTEM_BYTES_MAX);
    const dueBytes = this.#bytesPerMs * factor * ms;
    this.#creditBytes = Math.min(this.#creditBytes + takenBytes - dueBytes, creditMax);
    return this.#creditBytes < 0;
  }
}
