// The bytes that a reader was given and has not read. Holds no reference to a buffer that has been read to its end.

const NOTHING = Buffer.alloc(0);

export class ByteInput {
  /** The buffer to read from, at `at`. Empty if there is nothing to read. */
  bytes: Buffer = NOTHING;
  at = 0;
  /** Buffers to read after this one. */
  #rest: Buffer[] = [];

  push(bytes: Buffer): void {
    if (bytes.length === 0) return;
    if (this.bytes === NOTHING) {
      this.bytes = bytes;
      this.at = 0;
    } else this.#rest.push(bytes);
  }

  /** Whether there is nothing to read. */
  get isEmpty(): boolean {
    return this.bytes === NOTHING;
  }

  get byteLength(): number {
    return this.#rest.reduce((sum, { length }) => sum + length, this.bytes.length - this.at);
  }

  /** Notes that the bytes before `at` have been read. */
  readTo(at: number): void {
    this.at = at;
    if (at < this.bytes.length) return;
    this.bytes = this.#rest.shift() ?? NOTHING;
    this.at = 0;
  }

  /** Reads `count` bytes, or fewer if the buffer ends before. The input must not be empty. */
  take(count: number): Buffer {
    const { bytes, at } = this;
    const end = Math.min(bytes.length, at + count);
    const taken = at === 0 && end === bytes.length ? bytes : bytes.subarray(at, end);
    this.readTo(end);
    return taken;
  }

  /** Drops everything. */
  clear(): void {
    this.bytes = NOTHING;
    this.at = 0;
    this.#rest = [];
  }
}
