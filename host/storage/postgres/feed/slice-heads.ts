// SliceHeads is the number of the last record of each slice that is on disk, in memory that the threads of a process share. The
// threads that write advance the heads of their slices once the records are on disk; those that follow the journal read them, and
// wait for the next record, without asking the database.
//
// Invariants
// - A head never goes back.
// - A reader never sees a part of a number: each is read and written by one atomic access.
// - A head that was advanced before `version` was read is among the heads that are read afterwards.
import { SLICE_COUNT } from '@svc/model/slice';
import { BLOCK_COUNT, BLOCK_SLICES, SliceOffsets } from './slice-offsets.ts';

const HEADS_BYTES = SLICE_COUNT * BigInt64Array.BYTES_PER_ELEMENT;
/** Index of the version in the counters, which is increased by each call of `advance`. Those of the blocks follow. */
const VERSION = 0;
const COUNTERS = 1 + BLOCK_COUNT;

export class SliceHeads {
  readonly #heads: BigInt64Array;
  readonly #counters: Int32Array;
  /** The heads as they were read last, and the counters before that. */
  #read = SliceOffsets.start;
  readonly #readCounters = new Int32Array(COUNTERS);

  /** `shared`: memory of another thread's SliceHeads; without it, new memory is allocated, in which all heads are 0. */
  constructor(
    shared = new SharedArrayBuffer(HEADS_BYTES + COUNTERS * Int32Array.BYTES_PER_ELEMENT),
  ) {
    this.#heads = new BigInt64Array(shared, 0, SLICE_COUNT);
    this.#counters = new Int32Array(shared, HEADS_BYTES, COUNTERS);
  }

  /** Memory to create another thread's SliceHeads with. */
  get shared(): SharedArrayBuffer {
    return this.#heads.buffer as SharedArrayBuffer;
  }

  /** Changes whenever a head has advanced. */
  get version(): number {
    return Atomics.load(this.#counters, VERSION);
  }

  /**
   * Called once the records up to these are on disk, by any thread. Heads that are there already, or are further, are left as they
   * are. Threads that wait are woken once for all.
   */
  advance(heads: Iterable<readonly [slice: number, off: number]>): void {
    let hasAdvanced = false;
    for (const [slice, off] of heads) {
      if (!this.#raise(slice, BigInt(off))) continue;
      Atomics.add(this.#counters, counterOf(Math.floor(slice / BLOCK_SLICES)), 1);
      hasAdvanced = true;
    }
    if (!hasAdvanced) return;
    Atomics.add(this.#counters, VERSION, 1);
    this.wake();
  }

  /** Raises a head, unless it is there already. Another thread may raise it at the same time. */
  #raise(slice: number, off: bigint): boolean {
    for (;;) {
      const head = Atomics.load(this.#heads, slice);
      if (head >= off) return false;
      if (Atomics.compareExchange(this.#heads, slice, head, off) === head) return true;
    }
  }

  /** Returns the head of one slice. */
  of(slice: number): number {
    return Number(Atomics.load(this.#heads, slice));
  }

  /** Returns all heads. Only the blocks that have changed since the last call are read. */
  offsets(): SliceOffsets {
    // A head that advances meanwhile is read again by the next call, because its counter is increased after it.
    const { version } = this;
    if (version === this.#readCounters[VERSION]) return this.#read;
    const changed = this.#changed();
    if (changed.length > 0) this.#read = this.#read.withBlocks(changed, (slice) => this.of(slice));
    this.#readCounters[VERSION] = version;
    return this.#read;
  }

  /** Returns the blocks that have changed since they were read. */
  #changed(): readonly number[] {
    const changed: number[] = [];
    for (let block = 0; block < BLOCK_COUNT; block++) {
      const counter = Atomics.load(this.#counters, counterOf(block));
      if (counter === this.#readCounters[counterOf(block)]) continue;
      this.#readCounters[counterOf(block)] = counter;
      changed.push(block);
    }
    return changed;
  }

  /** Resolves when a head has advanced since `version` was read, or all waiting threads are woken. */
  async changed(version: number): Promise<void> {
    await Atomics.waitAsync(this.#counters, VERSION, version).value;
  }

  /** Wakes all threads that wait. */
  wake(): void {
    Atomics.notify(this.#counters, VERSION);
  }
}

function counterOf(block: number): number {
  return 1 + block;
}
