// FrameRing is a ring buffer of frames in shared memory, with one shard as its writer and another as its reader. A
// frame can be read as soon as it is written, without a system call; a message would wake a thread, which costs as
// much as executing ten calls of entities. Frames are short and hold only one-byte characters; all others go through
// the message port (ring-transport.ts).
//
// Layout, in words of four bytes: the number of bytes ever written and ever read, modulo 2^32, and whether the reader
// sleeps, each on a cache line of its own; then the frames. A frame is contiguous: its length in bytes, the number of
// its words, its words, and its texts, whose lengths are among the words. A length of 0 means that the rest of the
// buffer up to its end is unused.
//
// Invariants: all bytes between `read` and `written` are complete frames; a reader that sleeps has read everything,
// or is woken.

/** Maximum size of a ring's buffer in bytes. The size of every buffer is a power of two. */
const RING_BYTES_MAX = 128 * 1024;
/** Minimum size of a ring's buffer in bytes: it has room for two of the longest frames. */
const RING_BYTES_MIN = 8 * 1024;
/**
 * Maximum size of the buffers of all rings that one shard reads, in bytes, unless each has RING_BYTES_MIN. There is one
 * ring for each other shard, so more shards have smaller rings.
 */
const RINGS_BYTES_MAX = 1024 * 1024;
/**
 * Maximum length of a frame in bytes. A message is as fast for longer frames, and a few of them would fill the ring.
 */
const FRAME_BYTES_MAX = 4096;

/** Indices of words: the bytes ever written, the bytes ever read, whether the reader sleeps. */
const WRITTEN = 0;
const READ = 16;
const SLEEPS = 32;
/** Number of words before the buffer. */
const HEAD_WORDS = 48;
/** Words before a frame's own words: its length and their number. */
const FRAME_WORDS = 2;

/** Creates the memory for one direction of a link between two of `shards` shards. */
export function frameRing(shards: number): SharedArrayBuffer {
  let bytes = RING_BYTES_MAX;
  while (bytes * shards > RINGS_BYTES_MAX && bytes > RING_BYTES_MIN) bytes /= 2;
  return new SharedArrayBuffer(HEAD_WORDS * 4 + bytes);
}

function ringBytes(shared: SharedArrayBuffer): number {
  return shared.byteLength - HEAD_WORDS * 4;
}

export class FrameRingWriter {
  readonly #words: Int32Array;
  readonly #bytes: Uint8Array;
  readonly #ringBytes: number;
  /** Number of bytes ever written, modulo 2^32. */
  #written: number;
  /** Value of `#written` when `wakesReader` last checked whether the reader sleeps. */
  #wokenAt: number;
  /** Number of bytes ever read, as last seen. */
  #read: number;
  /** Length of the frame being written, including the unused bytes before it. */
  #frameBytes = 0;
  /** Index of the next word, and of the next byte of text. */
  #wordAt = 0;
  #byteAt = 0;
  /** All UTF-16 units of the frame's texts, combined by bitwise or. */
  #units = 0;

  constructor(shared: SharedArrayBuffer) {
    this.#words = new Int32Array(shared);
    this.#bytes = new Uint8Array(shared);
    this.#ringBytes = ringBytes(shared);
    this.#written = Atomics.load(this.#words, WRITTEN);
    this.#wokenAt = this.#written;
    this.#read = Atomics.load(this.#words, READ);
  }

  /**
   * Begins a frame of `words` words, of which each text takes one, and of texts with `units` UTF-16 units in all.
   * Returns false if there is no room for the frame, or if it would be longer than FRAME_BYTES_MAX.
   */
  begin(words: number, units: number): boolean {
    const headBytes = (FRAME_WORDS + words) * 4;
    const bytes = (headBytes + units + 3) & ~3;
    if (bytes > FRAME_BYTES_MAX) return false;
    const offset = this.#written & (this.#ringBytes - 1);
    const toEnd = this.#ringBytes - offset;
    const needed = bytes <= toEnd ? bytes : toEnd + bytes;
    if (needed > this.#room()) {
      this.#read = Atomics.load(this.#words, READ);
      if (needed > this.#room()) return false;
    }
    let at = HEAD_WORDS + (offset >> 2);
    if (bytes > toEnd) {
      this.#words[at] = 0;
      at = HEAD_WORDS;
    }
    this.#words[at] = bytes;
    this.#words[at + 1] = words;
    this.#frameBytes = needed;
    this.#wordAt = at + FRAME_WORDS;
    this.#byteAt = at * 4 + headBytes;
    this.#units = 0;
    return true;
  }

  /** Writes a number of 32 bits. */
  word(value: number): void {
    this.#words[this.#wordAt++] = value;
  }

  text(text: string): void {
    const { length } = text;
    this.#words[this.#wordAt++] = length;
    const bytes = this.#bytes;
    const at = this.#byteAt;
    let units = 0;
    for (let index = 0; index < length; index++) {
      const unit = text.charCodeAt(index);
      units |= unit;
      bytes[at + index] = unit;
    }
    this.#units |= units;
    this.#byteAt = at + length;
  }

  /** Publishes the frame. Returns false, and writes no frame, if a character needs two bytes. */
  end(): boolean {
    if (this.#units > 0xff) return false;
    this.#written = (this.#written + this.#frameBytes) | 0;
    Atomics.store(this.#words, WRITTEN, this.#written);
    return true;
  }

  /**
   * Returns whether the caller has to wake the reader with a message, because the reader sleeps and there are new
   * frames. The reader is then marked as awake.
   */
  wakesReader(): boolean {
    const words = this.#words;
    if (this.#wokenAt === this.#written) return false;
    this.#wokenAt = this.#written;
    // SLEEPS is loaded before it is exchanged, because a write takes the cache line from the other processor.
    return Atomics.load(words, SLEEPS) === 1 && Atomics.exchange(words, SLEEPS, 0) === 1;
  }

  #room(): number {
    return this.#ringBytes - ((this.#written - this.#read) | 0);
  }
}

export class FrameRingReader {
  readonly #words: Int32Array;
  readonly #bytes: Buffer;
  readonly #ringBytes: number;
  /** Number of bytes ever read, modulo 2^32; the writer may not know it yet. */
  #read: number;
  /**
   * End of the frames that `next` currently returns. Later frames are left for the next `look`, so that reading
   * ends.
   */
  #until: number;
  #wordAt = 0;
  #byteAt = 0;

  constructor(shared: SharedArrayBuffer) {
    this.#words = new Int32Array(shared);
    this.#bytes = Buffer.from(shared);
    this.#ringBytes = ringBytes(shared);
    this.#read = Atomics.load(this.#words, READ);
    this.#until = this.#read;
  }

  /** Returns whether `next` has a frame to read. */
  look(): boolean {
    this.#until = Atomics.load(this.#words, WRITTEN);
    return this.#until !== this.#read;
  }

  /** Moves to the next frame, and frees the space of the frames before it. Returns false if there is none. */
  next(): boolean {
    const words = this.#words;
    if (words[READ] !== this.#read) Atomics.store(words, READ, this.#read);
    if (this.#until === this.#read) return false;
    let offset = this.#read & (this.#ringBytes - 1);
    if (words[HEAD_WORDS + (offset >> 2)] === 0) {
      this.#read = (this.#read + this.#ringBytes - offset) | 0;
      offset = 0;
    }
    const at = HEAD_WORDS + (offset >> 2);
    this.#wordAt = at + FRAME_WORDS;
    this.#byteAt = (at + FRAME_WORDS + words[at + 1]!) * 4;
    this.#read = (this.#read + words[at]!) | 0;
    return true;
  }

  word(): number {
    return this.#words[this.#wordAt++]!;
  }

  text(): string {
    const from = this.#byteAt;
    this.#byteAt = from + this.word();
    if (this.#byteAt === from) return '';
    return this.#bytes.toString('latin1', from, this.#byteAt);
  }

  /**
   * Marks the reader as sleeping, so that the writer wakes it. Returns false if there are frames to read; the reader
   * then stays awake.
   */
  sleep(): boolean {
    const words = this.#words;
    Atomics.store(words, SLEEPS, 1);
    if (Atomics.load(words, WRITTEN) === this.#read) return true;
    this.wake();
    return false;
  }

  wake(): void {
    Atomics.store(this.#words, SLEEPS, 0);
  }
}
