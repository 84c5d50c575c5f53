// NumberedSlots: what waits for an answer, by a number of 31 bits that the answer names. A Map would do the same, but each time
// that one is filled anew it leaves the old table behind, which holds what was waiting then: once such a table is old, the
// collector keeps all of that, and every later table, until it next looks at everything. Invariant: a number
// that was taken names nothing, for as long as its slot has not been used again 2^17 times.

const SLOT_BITS = 14;
/** As many as may wait. */
const SLOTS_MAX = 1 << SLOT_BITS;
const SLOT_MASK = SLOTS_MAX - 1;
const NUMBER_MASK = 0x7fff_ffff;

/** Of the number that another thread has given. */
export function slotOf(number: number): number {
  return number & SLOT_MASK;
}

export class NumberedSlots<Value> {
  readonly #values: (Value | undefined)[] = [];
  /** Of each slot, the number that it has, or had last. */
  readonly #numbers: number[] = [];
  /** Slots that hold nothing. */
  readonly #free: number[] = [];

  get size(): number {
    return this.#values.length - this.#free.length;
  }

  /** The number that the next `add` gives, unless something is taken before. */
  get next(): number {
    const slot = this.#free.at(-1) ?? this.#values.length;
    return this.#numberOf(slot);
  }

  /** There must be fewer than 2^14. */
  add(value: Value): number {
    const slot = this.#free.pop() ?? this.#values.length;
    const number = this.#numberOf(slot);
    this.#values[slot] = value;
    this.#numbers[slot] = number;
    return number;
  }

  get(number: number): Value | undefined {
    const slot = number & SLOT_MASK;
    return this.#numbers[slot] === number ? this.#values[slot] : undefined;
  }

  /** What it gives is not there any more. */
  take(number: number): Value | undefined {
    const value = this.get(number);
    if (value !== undefined) this.#empty(number & SLOT_MASK);
    return value;
  }

  takeAll(): Value[] {
    const all = this.#values.filter((value) => value !== undefined);
    for (const [slot, value] of this.#values.entries()) if (value !== undefined) this.#empty(slot);
    return all;
  }

  #empty(slot: number): void {
    this.#values[slot] = undefined;
    this.#free.push(slot);
  }

  /** Its last one with a higher count above the bits of the slot. */
  #numberOf(slot: number): number {
    const last = this.#numbers[slot];
    return last === undefined ? slot : (last + SLOTS_MAX) & NUMBER_MASK;
  }
}
