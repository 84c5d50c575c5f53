// LogFiles is the log of a service in files of its own: `service.log`, which is written, and the older `service.log.1`
// to `service.log.N`, of which the last is removed when a new one is begun.
//
// Invariants
// L1  Whoever writes a line never waits for the disk.
// L2  The files of a folder have at most `countMax` times `bytesMax` bytes, and a line more each.
// L3  A disk that takes no lines stops no service: up to `waitingBytesMax` bytes wait, lines beyond are counted, and
//     their number is reported with the next lines that the disk takes.
// L4  Only the user of the service may read the files.
import { constants, writeSync } from 'node:fs';
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { LOG_FILES_DEFAULT, type LogFilesLimits } from './log-files-limits.ts';

const FILE = 'service.log';
/** Pause before the disk is tried again, in milliseconds. */
const RETRY_MS = 1_000;
/** How long the end of a program waits for the disk, in milliseconds. */
const CLOSE_MS = 2_000;
/** Maximum number of bytes that one call writes, unless one line has more. */
const BATCH_BYTES_MAX = 256 * 1024;

export interface LogFilesOptions {
  readonly limits?: LogFilesLimits;
  /** Called with the first error of each time in which the disk takes no lines. */
  readonly onFailure: (error: unknown) => void;
  /** Called when the disk takes lines again, with the number of lines that were not written. It may write a line. */
  readonly onDropped: (lines: number) => void;
  /** Pause before the disk is tried again, in milliseconds. */
  readonly retryMs?: number;
}

export class LogFiles {
  readonly #folder: string;
  readonly #limits: LogFilesLimits;
  readonly #options: LogFilesOptions;
  /** Lines that wait to be written, in order. */
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  /** The rest of what is being written; empty between two batches. */
  #batch: Buffer = Buffer.alloc(0);
  #dropped = 0;
  #file: FileHandle | undefined;
  /** Size of the file that is written. */
  #fileBytes = 0;
  /** Settles when nothing waits any more; undefined while nothing does. */
  #writing: Promise<void> | undefined;
  #hasFailed = false;
  #isClosed = false;
  #retry = Promise.withResolvers<void>();
  readonly #onExit = (): void => this.#writeRest();

  /** `folder` is made with the first line. */
  constructor(folder: string, options: LogFilesOptions) {
    this.#folder = folder;
    this.#limits = options.limits ?? LOG_FILES_DEFAULT;
    this.#options = options;
    process.on('exit', this.#onExit);
  }

  /** Adds a line, which ends with a line feed. Never throws, and never waits. */
  write(line: string): void {
    const bytes = Buffer.from(line);
    if (this.#isClosed || this.#waitingBytes + bytes.length > this.#limits.waitingBytesMax) {
      this.#dropped++;
      return;
    }
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    this.#writing ??= this.#writeWaiting();
  }

  /** Writes what waits, if the disk takes it in 2 s, and closes the file. Further lines are dropped. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#retry.resolve();
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, CLOSE_MS);
    await Promise.race([this.#writing, late.promise]);
    clearTimeout(timer);
    process.off('exit', this.#onExit);
    await this.#file?.close().catch(() => {});
  }

  async #writeWaiting(): Promise<void> {
    // The lines of one tick are written together.
    await Promise.resolve();
    while (this.#batch.length > 0 || this.#waiting.length > 0) {
      if (this.#batch.length === 0) this.#batch = this.#nextBatch();
      try {
        await this.#writeBatch();
        this.#recovered();
      } catch (error) {
        this.#failed(error);
        if (this.#isClosed) break;
        await this.#pause();
      }
    }
    this.#writing = undefined;
  }

  /** Takes lines up to BATCH_BYTES_MAX, and to the end of the file. */
  #nextBatch(): Buffer {
    let bytes = 0;
    let count = 0;
    for (const line of this.#waiting) {
      if (count > 0 && bytes + line.length > BATCH_BYTES_MAX) break;
      bytes += line.length;
      count++;
    }
    return Buffer.concat(this.#waiting.splice(0, count), bytes);
  }

  /** Writes the batch; what was written is no part of it any more, even if the rest fails. */
  async #writeBatch(): Promise<void> {
    while (this.#batch.length > 0) {
      const file = await this.#openFile();
      const space = this.#limits.bytesMax - this.#fileBytes;
      const piece = this.#batch.subarray(0, wholeLines(this.#batch, space, this.#fileBytes === 0));
      if (piece.length === 0) {
        await this.#rotate();
        continue;
      }
      const { bytesWritten } = await file.write(piece);
      this.#fileBytes += bytesWritten;
      this.#waitingBytes -= bytesWritten;
      this.#batch = this.#batch.subarray(bytesWritten);
    }
  }

  async #openFile(): Promise<FileHandle> {
    if (this.#file !== undefined) return this.#file;
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW } = constants;
    const flags = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW;
    const file = await open(join(this.#folder, FILE), flags, 0o600);
    try {
      await file.chmod(0o600);
      this.#fileBytes = (await file.stat()).size;
    } catch (error) {
      await file.close();
      throw error;
    }
    this.#file = file;
    return file;
  }

  async #rotate(): Promise<void> {
    await this.#file?.close();
    this.#file = undefined;
    const { countMax } = this.#limits;
    const path = (number: number) => join(this.#folder, number === 0 ? FILE : `${FILE}.${number}`);
    await rm(path(countMax - 1), { force: true });
    for (let number = countMax - 2; number >= 0; number--)
      await rename(path(number), path(number + 1)).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error;
      });
  }

  #failed(error: unknown): void {
    if (!this.#hasFailed) this.#options.onFailure(error);
    this.#hasFailed = true;
  }

  #recovered(): void {
    this.#hasFailed = false;
    if (this.#dropped === 0 || this.#isClosed) return;
    const lines = this.#dropped;
    this.#dropped = 0;
    this.#options.onDropped(lines);
  }

  async #pause(): Promise<void> {
    this.#retry = Promise.withResolvers<void>();
    const timer = setTimeout(this.#retry.resolve, this.#options.retryMs ?? RETRY_MS);
    // A program that ends does not wait for a full disk.
    timer.unref();
    await this.#retry.promise;
    clearTimeout(timer);
  }

  /** At an unexpected end of the process: writes the lines that are not being written already. */
  #writeRest(): void {
    if (this.#file === undefined) return;
    try {
      writeSync(this.#file.fd, Buffer.concat(this.#waiting));
    } catch {
      // The disk takes no more.
    }
  }
}

/**
 * Returns the length of the whole lines at the beginning that fit into `space` bytes; of the first line, however long
 * it is, if `isNew`.
 */
function wholeLines(lines: Buffer, space: number, isNew: boolean): number {
  if (lines.length <= space) return lines.length;
  const end = space > 0 ? lines.subarray(0, space).lastIndexOf(0x0a) + 1 : 0;
  return end > 0 || !isNew ? end : lines.indexOf(0x0a) + 1;
}
