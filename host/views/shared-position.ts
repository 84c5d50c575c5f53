// SharedPosition is a position of a feed, or another short text, in memory that threads share: one thread sets it, others
// read it and wait until it changes. The text of a position is opaque here, too.
//
// Invariant: a reader gets a position that was set, never parts of two.

/** Maximum number of characters of a position, all of which are ASCII. The position of a journal may name 1,024 numbers. */
const LENGTH_MAX = 16_384;
/** Index of the version in the header: odd while a position is being written. */
const VERSION = 0;
/** Index of the text's length in the header. */
const LENGTH = 1;
const HEADER_BYTES = 2 * Int32Array.BYTES_PER_ELEMENT;

export class SharedPosition {
  readonly #header: Int32Array;
  readonly #text: Uint8Array;
  /** The text that was read last, and its version. */
  #read = '';
  #readVersion = 0;

  /** `shared`: memory of another thread's SharedPosition; without it, new memory is allocated, with an empty position. */
  constructor(shared = new SharedArrayBuffer(HEADER_BYTES + LENGTH_MAX)) {
    this.#header = new Int32Array(shared, 0, 2);
    this.#text = new Uint8Array(shared, HEADER_BYTES);
  }

  /** Memory to create another thread's SharedPosition with. */
  get shared(): SharedArrayBuffer {
    return this.#header.buffer as SharedArrayBuffer;
  }

  /** Sets the position, and wakes all threads that wait. Only one thread may set it. Throws RangeError. */
  set(position: string): void {
    if (position.length > LENGTH_MAX)
      throw new RangeError(`a position of ${position.length} characters`);
    Atomics.add(this.#header, VERSION, 1);
    Atomics.store(this.#header, LENGTH, position.length);
    for (let at = 0; at < position.length; at++)
      Atomics.store(this.#text, at, position.charCodeAt(at));
    Atomics.add(this.#header, VERSION, 1);
    this.wake();
  }

  /** Returns the position; an empty text if none was set. */
  get(): string {
    for (;;) {
      const version = Atomics.load(this.#header, VERSION);
      if (version === this.#readVersion) return this.#read;
      const length = Atomics.load(this.#header, LENGTH);
      const text = Buffer.allocUnsafe(length);
      for (let at = 0; at < length; at++) text[at] = Atomics.load(this.#text, at);
      if (version % 2 !== 0 || Atomics.load(this.#header, VERSION) !== version) continue;
      this.#read = text.toString('latin1');
      this.#readVersion = version;
    }
  }

  /**
   * Resolves once a position is set for which `isReached` holds: with true, or with false when `waitMs` milliseconds are over
   * or `signal` is aborted.
   */
  async reached(
    isReached: (position: string) => boolean,
    waitMs: number,
    signal?: AbortSignal,
  ): Promise<boolean> {
    const endMs = performance.now() + waitMs;
    const wake = () => this.wake();
    signal?.addEventListener('abort', wake);
    try {
      for (;;) {
        const version = Atomics.load(this.#header, VERSION);
        if (isReached(this.get())) return true;
        const leftMs = endMs - performance.now();
        if (leftMs <= 0 || signal?.aborted === true) return false;
        await Atomics.waitAsync(this.#header, VERSION, version, leftMs).value;
      }
    } finally {
      signal?.removeEventListener('abort', wake);
    }
  }

  /** Wakes all threads that wait; they look at the position again. */
  wake(): void {
    Atomics.notify(this.#header, VERSION);
  }
}
