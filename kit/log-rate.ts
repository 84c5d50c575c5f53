// LogRate: how much of what a shard has to say goes to the main thread, which writes it. Lines and bytes
// have a bucket each, that fills with time; what has not been written yet has a bound. A line for which
// there is no room is counted, and the count is said once there is room again. It runs in the shard: what
// it keeps back costs the main thread nothing.
import type { LogLimits } from './log-limits.ts';
import type { LogEntry } from './log-entry.ts';

/** For time, level and what stands around a message. */
const FRAME_BYTES = 100;

export class LogRate<Entry extends LogEntry = LogEntry> {
  readonly #limits: LogLimits;
  readonly #post: (entry: Entry | LogEntry) => void;
  readonly #countNotWritten: () => void;
  #lines: number;
  #bytes: number;
  #filledAtMs: number;
  /** Of lines since the start: posted, and written by the main thread. */
  #postedBytes = 0;
  #writtenBytes = 0;
  #notWritten = 0;

  /** `post` gives a line to the main thread; `countNotWritten` is told of each that is not given to it. */
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

  /** `nowMs` never goes back. */
  write(entry: Entry | LogEntry, nowMs: number): void {
    this.#fill(nowMs);
    const bytes = entryBytes(entry);
    // Whoever reads of a gap reads it where it is, so the line about it needs room as well.
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

  /** Says how many lines were not written, if any; called now and then, and at the end. */
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

  /** How much of what was posted the main thread has written by now: the sum of `entryBytes`. */
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

/** How many bytes a line of the log counts for. A control character counts for one, and is written as six. */
export function entryBytes({ message, fields }: LogEntry): number {
  let bytes = FRAME_BYTES + Buffer.byteLength(message);
  for (const name in fields) bytes += name.length + Buffer.byteLength(String(fields[name]));
  return bytes;
}
