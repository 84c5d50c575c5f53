// LogRate: limits the log lines that a shard sends to the main thread, which writes them. Lines and bytes
// have a token bucket each; bytes that are not written yet have a bound. A line that exceeds a limit is
// counted, and the count is logged once there is capacity again. LogRate runs in the shard, so dropped lines
// cost the main thread nothing.
import type { LogLimits } from './log-limits.ts';
import type { LogEntry } from './log-entry.ts';

/** Bytes that a line counts for in addition to its message and fields: time, level and punctuation. */
const FRAME_BYTES = 100;

export class LogRate<Entry extends LogEntry = LogEntry> {
  readonly #limits: LogLimits;
  readonly #post: (entry: Entry | LogEntry) => void;
  readonly #countNotWritten: () => void;
  /** Tokens in the two buckets: lines and bytes that may be sent now. */
  #lines: number;
  #bytes: number;
  #filledAtMs: number;
  /** Bytes of lines since the start: posted, and written by the main thread. */
  #postedBytes = 0;
  #writtenBytes = 0;
  #notWritten = 0;

  /** `post` sends a line to the main thread; `countNotWritten` is called for each line that is not sent. */
  constructor(
    limits: LogLimits,
    nowMs: number,
    post: (entry: Entry | LogEntry) => void,
    countNotWritten: () => void,
  ) {
    this.#limits = limits;
    this.#post = post;
    this.#countNotWritten = countNotWritten;
    this.#lines = limits.linesPerSecond * limits.burstSeconds;
    this.#bytes = limits.bytesPerSecond * limits.burstSeconds;
    this.#filledAtMs = nowMs;
  }

  /** Sends or drops a line. `nowMs` must never decrease. */
  write(entry: Entry | LogEntry, nowMs: number): void {
    this.#fill(nowMs);
    const bytes = entryBytes(entry);
    // The line about a gap comes before the next line, so it needs capacity as well.
    const isFull =
      this.#lines < (this.#notWritten > 0 ? 2 : 1) ||
      this.#bytes < bytes ||
      this.#postedBytes - this.#writtenBytes + bytes > this.#limits.waitingBytesMax;
    if (isFull) {
      this.#notWritten++;
      this.#countNotWritten();
      return;
    }
    this.report(nowMs);
    this.#give(entry, bytes);
  }

  /**
   * Logs how many lines were not written, if there are any and there is capacity for a line. Call it from time to time,
   * and at the end.
   */
  report(nowMs: number): void {
    this.#fill(nowMs);
    if (this.#notWritten === 0 || this.#lines < 1) return;
    const entry: LogEntry = {
      level: 'warn',
      message: `${this.#notWritten} lines were not written`,
      fields: { reason: 'the service logs more than svc.log.* allows' },
    };
    this.#notWritten = 0;
    this.#give(entry, 0);
  }

  /** Notes that the main thread has written `bytes` of posted lines since the start, as `entryBytes` counts them. */
  written(bytes: number): void {
    this.#writtenBytes = bytes;
  }

  #give(entry: Entry | LogEntry, bytes: number): void {
    this.#lines -= 1;
    this.#bytes -= bytes;
    this.#postedBytes += entryBytes(entry);
    this.#post(entry);
  }

  #fill(nowMs: number): void {
    const { linesPerSecond, bytesPerSecond, burstSeconds } = this.#limits;
    const seconds = (nowMs - this.#filledAtMs) / 1000;
    this.#filledAtMs = nowMs;
    this.#lines = Math.min(this.#lines + seconds * linesPerSecond, linesPerSecond * burstSeconds);
    this.#bytes = Math.min(this.#bytes + seconds * bytesPerSecond, bytesPerSecond * burstSeconds);
  }
}

/**
 * Returns the bytes that a line counts for, which may be fewer than are written: a control character counts as one
 * byte, and is written as six.
 */
export function entryBytes({ message, fields }: LogEntry): number {
  let bytes = FRAME_BYTES + Buffer.byteLength(message);
  for (const name in fields) bytes += name.length + Buffer.byteLength(String(fields[name]));
  return bytes;
}
