// InstanceMemory: the memory that all instances of one guest hold together. A new instance counts before it is
// created, a grown one as soon as its growth is noticed; each counts until it is released.
//
// Invariant: at the limit, holders first release instances that execute no call. If that does not suffice, a new
// instance is not created, and growth is the fault of its module.
//
// The process keeps the memory of a released instance until the garbage collector frees it. That memory is bounded as
// well: above `releasedBytesMax`, garbage is collected before the next instance is created.
import { GuestFault } from '@svc/model/guest-fault';
import { SvcError } from '@svc/kit/svc-error';
import type { WasmLimits } from '../wasm-limits.ts';
import { collectGarbage } from './garbage-collection.ts';

type Limits = Pick<WasmLimits, 'memoryBytesTotalMax' | 'releasedBytesMax'>;

/** Releases an instance other than the one of `spared`. Returns false if there is none. */
export type LetGo = (spared: MemoryShare | undefined) => boolean;

/** Memory counts as short above this part of the limit. */
const SHORT_FROM = 0.8;

export class InstanceMemory {
  readonly #bytesMax: number;
  readonly #releasedBytesMax: number;
  readonly #collectGarbage: () => void;
  readonly #holders: LetGo[] = [];
  #bytes = 0;
  /** Bytes released since the last collection. */
  #releasedBytes = 0;

  constructor({ memoryBytesTotalMax, releasedBytesMax }: Limits, collect = collectGarbage) {
    this.#bytesMax = memoryBytesTotalMax;
    this.#releasedBytesMax = releasedBytesMax;
    this.#collectGarbage = collect;
  }

  /** Bytes that all instances hold together. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether so much memory is used that instances should be released before the limit is reached. */
  get isShort(): boolean {
    return this.#bytes > this.#bytesMax * SHORT_FROM;
  }

  /** Registers a holder, which is asked to release instances after the holders that were added before. */
  addHolder(letGo: LetGo): void {
    this.#holders.push(letGo);
  }

  /** Reserves memory for a new instance. Throws SVC_OVERLOADED. */
  newShare(bytes: number): MemoryShare {
    if (!this.#hasRoom(bytes, undefined))
      throw new SvcError(
        'SVC_OVERLOADED',
        `All instances of the module together hold ${this.#bytes} bytes of memory, and ` +
          `${this.#bytesMax} is the limit. Try again later, or raise svc.wasm.memory-bytes-total-max.`,
      );
    this.#freeReleased();
    const share = new MemoryShare(this, bytes);
    this.#bytes += bytes;
    return share;
  }

  /** Counts the memory that an instance holds now. Throws a GuestFault if that exceeds the limit. */
  resize(share: MemoryShare, bytes: number): void {
    const more = bytes - share.bytes;
    const hasRoom = more <= 0 || this.#hasRoom(more, share);
    share.bytes = bytes;
    this.#bytes += more;
    if (!hasRoom)
      throw new GuestFault(
        'memory',
        `All instances of the module together hold more than ${this.#bytesMax} bytes of memory.`,
        { limit: 'memory' },
      );
  }

  /** Stops counting a share. `heldBytes`: what its instance really holds, growth that was not noticed included. */
  release(share: MemoryShare, heldBytes: number): void {
    this.#bytes -= share.bytes;
    this.#releasedBytes += heldBytes;
    share.bytes = 0;
  }

  #freeReleased(): void {
    if (this.#releasedBytes <= this.#releasedBytesMax) return;
    this.#releasedBytes = 0;
    this.#collectGarbage();
  }

  #hasRoom(more: number, spared: MemoryShare | undefined): boolean {
    while (this.#bytes + more > this.#bytesMax)
      if (!this.#holders.some((letGo) => letGo(spared))) return false;
    return true;
  }
}

/** Memory that one instance holds. */
export class MemoryShare {
  bytes: number;
  readonly #memory: InstanceMemory;
  #isReleased = false;

  constructor(memory: InstanceMemory, bytes: number) {
    this.#memory = memory;
    this.bytes = bytes;
  }

  /** Throws a GuestFault if the growth exceeds the limit. */
  growTo(bytes: number): void {
    if (!this.#isReleased) this.#memory.resize(this, bytes);
  }

  /**
   * Releases the memory of an instance that is not used any more. Growth while its last log lines are read is not
   * counted.
   */
  release(heldBytes = this.bytes): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#memory.release(this, heldBytes);
  }
}
