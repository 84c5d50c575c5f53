// SliceTable says which node owns each slice of the journal, in memory that the threads of this node share. The thread that keeps
// the membership writes what the database has confirmed; the threads that serve read it for each call.
//
// Invariants
// - While `acquisitionOf` returns the same number for a slice, this node owns the slice without interruption.
// - The version changes after the entries that it announces: who reads the version first, and the entries then, misses nothing.
import { SLICE_COUNT } from '@svc/model/slice';
import { NOBODY } from '../../cluster-nodes.ts';

const VERSION = 0;
const SELF = 1;
const OWNERS = 2;
const ACQUISITIONS = OWNERS + SLICE_COUNT;
const COUNT = ACQUISITIONS + SLICE_COUNT;

export class SliceTable {
  readonly #entries: Int32Array;

  /** `shared`: memory of another thread's SliceTable; without it, new memory is allocated, in which no slice has an owner. */
  constructor(shared = new SharedArrayBuffer(COUNT * Int32Array.BYTES_PER_ELEMENT)) {
    this.#entries = new Int32Array(shared);
  }

  /** Memory to create another thread's SliceTable with. */
  get shared(): SharedArrayBuffer {
    return this.#entries.buffer as SharedArrayBuffer;
  }

  /** Changes whenever an owner has changed. */
  get version(): number {
    return Atomics.load(this.#entries, VERSION);
  }

  /** Number of this node; NOBODY until it has joined. */
  get self(): number {
    return Atomics.load(this.#entries, SELF);
  }

  /** Number of the node that owns a slice. */
  ownerOf(slice: number): number {
    return Atomics.load(this.#entries, OWNERS + slice);
  }

  /** Returns the number of the acquisition by which this node owns the slice, from 1 on; undefined: it does not own it. */
  acquisitionOf(slice: number): number | undefined {
    const acquisition = Atomics.load(this.#entries, ACQUISITIONS + slice);
    const { self } = this;
    return self !== NOBODY && this.ownerOf(slice) === self ? acquisition : undefined;
  }

  /** Returns the slices that this node owns, in ascending order. */
  own(): readonly number[] {
    const { self } = this;
    if (self === NOBODY) return [];
    return Array.from({ length: SLICE_COUNT }, (_, slice) => slice).filter(
      (slice) => this.ownerOf(slice) === self,
    );
  }

  /** Gives this node a number, with which it owns nothing yet. Called by the thread that keeps the membership. */
  join(self: number): void {
    for (let slice = 0; slice < SLICE_COUNT; slice++)
      if (this.ownerOf(slice) === this.self) Atomics.store(this.#entries, OWNERS + slice, NOBODY);
    Atomics.store(this.#entries, SELF, self);
    this.#announce();
  }

  /** Notes owners that the database has confirmed. Called by the thread that keeps the membership. */
  assign(owners: Iterable<readonly [slice: number, owner: number]>): void {
    const { self } = this;
    let hasChanged = false;
    for (const [slice, owner] of owners) {
      if (this.ownerOf(slice) === owner) continue;
      // The acquisition is counted before the slice is owned, so that nobody takes a new acquisition for the one before.
      if (owner === self) Atomics.add(this.#entries, ACQUISITIONS + slice, 1);
      Atomics.store(this.#entries, OWNERS + slice, owner);
      hasChanged = true;
    }
    if (hasChanged) this.#announce();
  }

  /** Notes that a slice which was acquired by this acquisition belongs to another node. Any thread may find that out. */
  lose(slice: number, acquisition: number): void {
    if (this.acquisitionOf(slice) !== acquisition) return;
    Atomics.compareExchange(this.#entries, OWNERS + slice, this.self, NOBODY);
    this.#announce();
  }

  /** Resolves when the version differs from `version`, or after `timeoutMs` milliseconds. */
  async changed(version: number, timeoutMs: number): Promise<void> {
    await Atomics.waitAsync(this.#entries, VERSION, version, timeoutMs).value;
  }

  #announce(): void {
    Atomics.add(this.#entries, VERSION, 1);
    Atomics.notify(this.#entries, VERSION);
  }
}
