// The bytes that a reader was given and has not read. Holds no reference to a buffer that has been read to its end.
//
// Invariants:
// - A buffer that comes while nothing waits is read where it is.
// - Small buffers that come while others wait are copied into larger ones, so that waiting bytes cost about as much memory and
//   time in a thousand pieces as in one.

const NOTHING = Buffer.alloc(0);
/** A buffer with as many bytes is kept as it is. */
const LARGE_BYTES = 1024;
const JOINED_BYTES_MIN = 64;
const JOINED_BYTES_MAX = 8 * 1024;

export class ByteInput {
  /** The buffer to read from, at `at`. Empty if there is nothing to read. */
  bytes: Buffer = NOTHING;
  at = 0;
  /** Buffers to read after this one. */
  #rest: Buffer[] = [];
  /** Small buffers to read after those, copied into this one. */
  #joined: Buffer = NOTHING;
  #joinedBytes = 0;
  /** Bytes of all buffers but the first. */
  #restBytes = 0;

  push(bytes: Buffer): void {
    const { length } = bytes;
    if (length === 0) return;
    if (this.bytes === NOTHING) {
      this.bytes = bytes;
      this.at = 0;
      return;
    }
    this.#restBytes += length;
    if (length < LARGE_BYTES) this.#join(bytes, length);
    else {
      this.#endJoined();
      this.#rest.push(bytes);
    }
  }

  /** Whether there is nothing to read. */
  get isEmpty(): boolean {
    return this.bytes === NOTHING;
  }

  get byteLength(): number {
    return this.#restBytes + this.bytes.length - this.at;
  }

  /** Notes that the bytes before `at` have been read. */
  readTo(at: number): void {
    this.at = at;
    if (at < this.bytes.length) return;
    this.at = 0;
    this.bytes = NOTHING;
    if (this.#restBytes > 0) this.#readNext();
  }

  #readNext(): void {
    if (this.#rest.length === 0) this.#endJoined();
    this.bytes = this.#rest.shift()!;
    this.#restBytes -= this.bytes.length;
  }

  /** Appends bytes to those that are joined. Their buffer doubles when it is full, up to its limit. */
  #join(bytes: Buffer, length: number): void {
    if (this.#joinedBytes + length > JOINED_BYTES_MAX) this.#endJoined();
    const needed = this.#joinedBytes + length;
    if (needed > this.#joined.length) {
      const size = Math.min(Math.max(JOINED_BYTES_MIN, 2 * needed), JOINED_BYTES_MAX);
      const larger = Buffer.allocUnsafeSlow(size);
      this.#joined.copy(larger, 0, 0, this.#joinedBytes);
      this.#joined = larger;
    }
    bytes.copy(this.#joined, this.#joinedBytes);
    this.#joinedBytes = needed;
  }

  /** Appends nothing more to the joined bytes. */
  #endJoined(): void {
    if (this.#joinedBytes === 0) return;
    this.#rest.push(this.#joined.subarray(0, this.#joinedBytes));
    this.#joined = NOTHING;
    this.#joinedBytes = 0;
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
    this.#restBytes = 0;
    this.#joined = NOTHING;
    this.#joinedBytes = 0;
  }
}
