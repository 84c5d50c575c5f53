// ByteBudget: how many bytes of one kind the threads of a service hold together, and how many they may. Each thread has
// a slot in shared memory, which it alone writes, and reads those of the others.
// Invariants:
// - A thread that starts holds nothing: it clears its slot, whatever an earlier one left there.
// - What a slot says differs from what its thread holds by less than `PUBLISHED_BYTES`, or by a part of the budget.
// - Whoever asks `hasRoom` before it adds leaves no more held than the budget, but for what others add in the same moment.

/** A slot to a cache line: threads that write beside each other would slow each other down. */
const SLOT_NUMBERS = 8;
/** A thread publishes what it holds after a change of this many bytes. */
const PUBLISHED_BYTES = 64 * 1024;
/** In a small budget, a thread publishes what it holds after a change of this part of the budget. */
const PUBLISHED_PART = 1024;

export class ByteBudget {
  readonly bytesMax: number;
  readonly #largest: number;
  readonly #slots: Float64Array;
  readonly #own: number;
  readonly #published: number;
  #held = 0;

  /** Memory for so many threads to share. */
  static shared(threads: number): SharedArrayBuffer {
    return new SharedArrayBuffer(threads * SLOT_NUMBERS * Float64Array.BYTES_PER_ELEMENT);
  }

  /** Gives back what the thread held, which has ended. */
  static threadEnded(shared: SharedArrayBuffer, thread: number): void {
    new Float64Array(shared)[thread * SLOT_NUMBERS] = 0;
  }

  /**
   * `largest`: what one may come to of whom that is not known before. `thread`: its number among those that share the
   * memory, from 0.
   */
  constructor(bytesMax: number, largest = 0, shared = ByteBudget.shared(1), thread = 0) {
    this.bytesMax = bytesMax;
    this.#largest = Math.min(largest, bytesMax / 2);
    this.#slots = new Float64Array(shared);
    this.#own = thread * SLOT_NUMBERS;
    this.#slots[this.#own] = 0;
    this.#published = Math.min(PUBLISHED_BYTES, bytesMax / PUBLISHED_PART);
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

  /** Whether there is no room for one more of the largest, or, when the largest takes more than half of the budget, whether half is held. */
  get isUsedUp(): boolean {
    const { total } = this;
    return total >= this.bytesMax || total + this.#largest > this.bytesMax;
  }

  hasRoom(bytes: number): boolean {
    return this.total + bytes <= this.bytesMax;
  }

  /** Holds so many bytes more, whether there is room or not; fewer, where the number is negative. */
  add(bytes: number): void {
    this.#held += bytes;
    if (Math.abs(this.#held - this.#slots[this.#own]!) >= this.#published)
      this.#slots[this.#own] = this.#held;
  }
}
