// ResponseRate: whether the other end of a connection takes its responses fast enough, on average. What it takes is seen by
// what leaves the process, and that comes in lumps: the buffers of the system take the first megabytes of a response at once,
// and then nothing until a good part of them is free. So what was taken beyond the least rate is credit, as much as
// those buffers hold. While the service has little room left, there is no credit but for the grace.
import type { Socket } from 'node:net';
import type { ConnectionTimes } from './http-settings.ts';
import { PIECE_BYTES } from './response-writer.ts';

const S_MS = 1_000;
/** What the buffers of a connection hold in the system, at most: Linux's own limit. */
const SYSTEM_BYTES_MAX = 4 * 1024 * 1024;

/** Of a socket, what there is to be seen. One that is none has no numbers, and is never too slow. */
type Progress = Pick<Socket, 'bytesWritten' | 'writableLength'>;

export class ResponseRate {
  readonly #socket: Progress;
  readonly #bytesPerMs: number;
  readonly #graceBytes: number;
  /** Handed to the system, at the latest look. */
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

  /** `ms`: since the latest look, in which bytes have waited for the other end. `isPressed`: there is little room left. */
  isTooLow(ms: number, isPressed: boolean): boolean {
    const leftBytes = this.#socket.bytesWritten - this.#socket.writableLength;
    const takenBytes = leftBytes - this.#leftBytes;
    this.#leftBytes = leftBytes;
    const creditMax = this.#graceBytes + (isPressed ? 0 : SYSTEM_BYTES_MAX);
    this.#creditBytes = Math.min(this.#creditBytes + takenBytes - this.#bytesPerMs * ms, creditMax);
    return this.#creditBytes < 0;
  }
}
