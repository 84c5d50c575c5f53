// NumberedSlots holds values that wait for an answer, under numbers of 31 bits by which the answer names them. A Map
// would leave its old table behind whenever it is rehashed. Such a table references the values that waited then, and
// the next table. Once it is in the garbage collector's old generation, all of these stay in memory until the next full
// collection.
//
// Invariant: the number of a removed value is not given to another value before its slot was reused 2^17 times.

const SLOT_BITS = 14;
/** Maximum number of values. */
const SLOTS_MAX = 1 << SLOT_BITS;
const SLOT_MASK = SLOTS_MAX - 1;
const NUMBER_MASK = 0x7fff_ffff;

/** Returns the slot of a number that another thread has given. */
export function slotOf(number: number): number {
  return number & SLOT_MASK;
}

export class NumberedSlots<Value> {
  readonly #values: (Value | undefined)[] = [];
  /** Indexed by slot: the current or the last number of the slot. */
  readonly #numbers: number[] = [];
  /** Slots that hold no value. */
  readonly #free: number[] = [];

  get size(): number {
    return this.#values.length - this.#free.length;
  }

  /** Returns the number that the next `add` returns, unless a value is taken before. */
  get next(): number {
    const slot = this.#free.at(-1) ?? this.#values.length;
    return this.#numberOf(slot);
  }

  /** Adds a value and returns its number. There must be fewer than 2^14 values. */
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

  /** Removes the value and returns it; returns undefined if there is none. */
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

  /** Returns the next number of a free slot: the count in the bits above the slot's is one higher. */
  #numberOf(slot: number): number {
    const last = this.#numbers[slot];
    return last === undefined ? slot : (last + SLOTS_MAX) & NUMBER_MASK;
  }
}
