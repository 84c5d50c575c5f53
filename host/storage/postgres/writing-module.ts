// WritingModule is the number of the module that writes the journal, in memory that the thread which opened the journal shares with
// those that write. Each record names its module by that number.

export class WritingModule {
  readonly #number: Int32Array;

  /** `shared`: memory of another thread's WritingModule; without it, new memory is allocated. */
  constructor(shared = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)) {
    this.#number = new Int32Array(shared);
  }

  /** Memory to create another thread's WritingModule with. */
  get shared(): SharedArrayBuffer {
    return this.#number.buffer as SharedArrayBuffer;
  }

  /** The number; undefined: no module is noted yet. */
  get number(): number | undefined {
    const number = Atomics.load(this.#number, 0);
    return number === 0 ? undefined : number;
  }

  /** Notes the module that writes from now on. */
  note(number: number): void {
    Atomics.store(this.#number, 0, number);
  }
}
