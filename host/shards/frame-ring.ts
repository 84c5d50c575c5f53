// FrameRing: memory through which one shard tells another something, one writer and one reader. What is written is there for the
// reader at once, with nothing of the system between the two: a message would wake a thread, at the price
// of ten calls. A frame is short, and its texts are of one-byte characters; what is not takes the port beside
// (ring-transport.ts). Layout, in words of four bytes: bytes written and read, ever, modulo 2^32, and whether the
// reader sleeps, each on a line of the processor's cache of its own; then the frames. A frame lies in one piece: its
// length in bytes, how many words it has, its words, and its texts, whose lengths are among the words. A length of 0
// says that the rest up to the end is left empty.
// Invariants: what is between `read` and `written` is whole; a reader that sleeps has read everything, or is woken.

/** Of the frames of a ring, each a power of two. */
const RING_BYTES_MAX = 128 * 1024;
/** Two of the longest frames. */
const RING_BYTES_MIN = 8 * 1024;
/** Of all rings that a shard reads: there are as many as other shards, and the more there are, the less is in each. */
const RINGS_BYTES = 1024 * 1024;
/** What is longer is sent as fast by the system, and a few of these would fill the ring. */
const FRAME_BYTES_MAX = 4096;

const WRITTEN = 0;
const READ = 16;
const SLEEPS = 32;
const HEAD_WORDS = 48;
/** Of a frame: its length, and how many words follow. */
const FRAME_WORDS = 2;

/** Made by whoever brings two of so many shards together; one for each direction. */
export function frameRing(shards: number): SharedArrayBuffer {
  let bytes = RING_BYTES_MAX;
  while (bytes * shards > RINGS_BYTES && bytes > RING_BYTES_MIN) bytes /= 2;
  return new SharedArrayBuffer(HEAD_WORDS * 4 + bytes);
}

function ringBytes(shared: SharedArrayBuffer): number {
  return shared.byteLength - HEAD_WORDS * 4;
}

export class FrameRingWriter {
  readonly #words: Int32Array;
  readonly #bytes: Uint8Array;
  readonly #ringBytes: number;
  /** Bytes ever, modulo 2^32. */
  #written: number;
  /** At this it was last looked whether the reader sleeps. */
  #told: number;
  /** As last seen. */
  #read: number;
  /** With what is left empty before it. */
  #frameBytes = 0;
  #wordAt = 0;
  #byteAt = 0;
  /** All units of the frame's texts, their bits together. */
  #units = 0;

  constructor(shared: SharedArrayBuffer) {
    this.#words = new Int32Array(shared);
    this.#bytes = new Uint8Array(shared);
    this.#ringBytes = ringBytes(shared);
    this.#written = Atomics.load(this.#words, WRITTEN);
    this.#told = this.#written;
    this.#read = Atomics.load(this.#words, READ);
  }

  /** A frame of so many words, one of them for each text, and texts of so many units. False: there is no room for it. */
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

  /** A number of 32 bits. */
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

  /** Lets the reader see it. False: a character takes two bytes, and there is no such frame. */
  end(): boolean {
    if (this.#units > 0xff) return false;
    this.#written = (this.#written + this.#frameBytes) | 0;
    Atomics.store(this.#words, WRITTEN, this.#written);
    return true;
  }

  /** Whether there is something new for a reader that sleeps; from now on it does not. */
  wakesReader(): boolean {
    const words = this.#words;
    if (this.#told === this.#written) return false;
    this.#told = this.#written;
    // First looked at: writing it takes the line from the other processor.
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
  /** Bytes ever, modulo 2^32; the writer may not know yet. */
  #read: number;
  /** So far it is read at present: what comes meanwhile is for later, or there might be no end. */
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

  /** Whether there is something to read with `next`. */
  look(): boolean {
    this.#until = Atomics.load(this.#words, WRITTEN);
    return this.#until !== this.#read;
  }

  /** Goes on to the next frame, and gives the room of those before it back. False: that was all. */
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

  /** False: there is something to read. Else the writer will say when there is. */
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
