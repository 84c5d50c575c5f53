// JournalEnd is the position of the last record that is on disk, in memory that the journal's writer shares with all threads
// that follow the journal. A thread waits for the next record without asking the writer.

export class JournalEnd {
  readonly #pos: BigInt64Array;

  /** `shared`: memory of another thread's JournalEnd; without it, new memory is allocated. */
  constructor(shared = new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT)) {
    this.#pos = new BigInt64Array(shared);
  }

  /** Memory to create another thread's JournalEnd with. */
  get shared(): SharedArrayBuffer {
    return this.#pos.buffer as SharedArrayBuffer;
  }

  /** Position of the last record; 0 when there is none. */
  get pos(): number {
    return Number(Atomics.load(this.#pos, 0));
  }

  /** Called by the writer once the records up to this position are on disk. */
  advance(pos: number): void {
    if (pos === this.pos) return;
    Atomics.store(this.#pos, 0, BigInt(pos));
    this.wake();
  }

  /** Resolves when the last record is no longer the one at `pos`, or all waiting threads are woken. */
  async changed(pos: number): Promise<void> {
    await Atomics.waitAsync(this.#pos, 0, BigInt(pos)).value;
  }

  /** Wakes all threads that wait. */
  wake(): void {
    Atomics.notify(this.#pos, 0);
  }
}
