// InstanceMemory: how much memory the instances of a module hold together. A new instance counts before it
// is made and one that has grown as soon as that is noticed; each until it is let go of.
//
// Invariant: over the limit, whoever holds instances that nobody uses lets go of them first. Then a new one is
// not made, and one that has grown is its module's fault.
import { GuestFault } from '../../../model/guest-fault.ts';
import { SvcError } from '@svc/kit/svc-error';

/** Lets go of an instance, but not of the one whose share this is. False: there is none. */
export type LetGo = (spared: MemoryShare | undefined) => boolean;

/** Beyond this part of the limit it is short. */
const SHORT_FROM = 0.8;

export class InstanceMemory {
  readonly #bytesMax: number;
  readonly #holders: LetGo[] = [];
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Of all instances together. */
  get bytes(): number {
    return this.#bytes;
  }

  /** There is still some, but it is time to let go of what nobody uses. */
  get isShort(): boolean {
    return this.#bytes > this.#bytesMax * SHORT_FROM;
  }

  /** Asks it when there is too little, after those that were added before. */
  addHolder(letGo: LetGo): void {
    this.#holders.push(letGo);
  }

  /** Throws SVC_OVERLOADED. */
  newShare(bytes: number): MemoryShare {
    if (!this.#hasRoom(bytes, undefined))
      throw new SvcError(
        'SVC_OVERLOADED',
        `All instances of the module together hold ${this.#bytes} bytes of memory, and ` +
          `${this.#bytesMax} is the limit. Try again later, or raise svc.wasm.memory-bytes-total-max.`,
      );
    const share = new MemoryShare(this, bytes);
    this.#bytes += bytes;
    return share;
  }

  /** Counts what an instance holds by now. Throws a GuestFault when that is too much. */
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

  #hasRoom(more: number, spared: MemoryShare | undefined): boolean {
    while (this.#bytes + more > this.#bytesMax)
      if (!this.#holders.some((letGo) => letGo(spared))) return false;
    return true;
  }
}

/** What one instance holds. */
export class MemoryShare {
  bytes: number;
  readonly #memory: InstanceMemory;
  #isReleased = false;

  constructor(memory: InstanceMemory, bytes: number) {
    this.#memory = memory;
    this.bytes = bytes;
  }

  /** Throws a GuestFault when that is too much. */
  growTo(bytes: number): void {
    if (!this.#isReleased) this.#memory.resize(this, bytes);
  }

  /** The instance is let go of. What it does with its last words does not count. */
  release(): void {
    this.growTo(0);
    this.#isReleased = true;
  }
}
