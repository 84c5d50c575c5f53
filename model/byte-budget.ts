// ByteBudget counts the bytes of one kind that the threads of a service hold together, against a maximum. Each thread
// has a slot in shared memory: only the thread itself writes it, the others read it.
//
// Invariants:
// - A thread that starts holds nothing: it clears its slot, whatever an earlier thread left there.
// - A slot differs from what its thread holds by less than `PUBLISHED_BYTES`, and by less than 1/`PUBLISHED_PART` of
//   the budget.
// - If every caller checks `hasRoom` before it adds, the budget is exceeded by no more than what other threads add at
//   the same moment or have not published yet.

/** Each slot has a cache line of its own, because threads that write to the same line slow each other down. */
const SLOT_NUMBERS = 8;
/** A thread publishes what it holds after a change of this many bytes. */
const PUBLISHED_BYTES = 64 * 1024;
/** In a small budget, a thread publishes what it holds after a change of 1/1024 of the budget. */
const PUBLISHED_PART = 1024;

export class ByteBudget {
  readonly bytesMax: number;
  readonly #largest: number;
  readonly #slots: Float64Array;
  /** Index of this thread's number in `#slots`. */
  readonly #own: number;
  /** Number of bytes by which `#held` may differ from the thread's slot. */
  readonly #publishedStep: number;
  #held = 0;

  /** Returns memory for this number of threads to share. */
  static shared(threads: number): SharedArrayBuffer {
    return new SharedArrayBuffer(threads * SLOT_NUMBERS * Float64Array.BYTES_PER_ELEMENT);
  }

  /** Releases the bytes that a terminated thread held. `thread`: its index. */
  static threadEnded(shared: SharedArrayBuffer, thread: number): void {
    new Float64Array(shared)[thread * SLOT_NUMBERS] = 0;
  }

  /**
   * `largest`: the maximum size, in bytes, of an item whose size is not known before it is added. `thread`: index of
   * the thread among those that share the memory, from 0.
   */
  constructor(bytesMax: number, largest = 0, shared = ByteBudget.shared(1), thread = 0) {
    this.bytesMax = bytesMax;
    this.#largest = Math.min(largest, bytesMax / 2);
    this.#slots = new Float64Array(shared);
    this.#own = thread * SLOT_NUMBERS;
    this.#slots[this.#own] = 0;
    this.#publishedStep = Math.min(PUBLISHED_BYTES, bytesMax / PUBLISHED_PART);
  }

  /** Bytes that this thread holds. */
  get held(): number {
    return this.#held;
  }

  /** Bytes that all threads hold, as far as they have published it. */
  get total(): number {
    let total = this.#held;
    for (let at = 0; at < this.#slots.length; at += SLOT_NUMBERS)
      if (at !== this.#own) total += this.#slots[at]!;
    return total;
  }

  /**
   * Returns whether there is no room for another item of the largest size. If that size exceeds half of the budget:
   * whether more than half of the budget is held.
   */
  get isUsedUp(): boolean {
    const { total } = this;
    return total >= this.bytesMax || total + this.#largest > this.bytesMax;
  }

  hasRoom(bytes: number): boolean {
    return this.total + bytes <= this.bytesMax;
  }

  /** Adds bytes, whether there is room or not; a negative number removes bytes. */
  add(bytes: number): void {
    this.#held += bytes;
    if (Math.abs(this.#held - this.#slots[this.#own]!) >= this.#publishedStep)
      this.#slots[this.#own] = this.#held;
  }
}
