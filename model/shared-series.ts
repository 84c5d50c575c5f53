// SharedSeries: named numbers in memory that two threads share. One thread writes; the other may read at any time,
// even while the writer is busy. The numbers survive the end of the writer. Each number is written by one thread at a
// time.

export class SharedSeries<Name extends string> {
  /** Memory to create the other thread's series with. */
  readonly shared: SharedArrayBuffer;
  readonly names: readonly Name[];
  readonly #numbers: Float64Array;
  readonly #indexes: ReadonlyMap<Name, number>;

  /** `shared`: memory of another series with the same names. */
  constructor(names: readonly Name[], shared?: SharedArrayBuffer) {
    this.names = names;
    this.shared = shared ?? new SharedArrayBuffer(names.length * Float64Array.BYTES_PER_ELEMENT);
    this.#numbers = new Float64Array(this.shared);
    this.#indexes = new Map(names.map((name, index) => [name, index]));
  }

  #indexOf(name: Name): number {
    return this.#indexes.get(name)!;
  }

  add(name: Name, amount = 1): void {
    this.#numbers[this.#indexOf(name)]! += amount;
  }

  set(name: Name, value: number): void {
    this.#numbers[this.#indexOf(name)] = value;
  }

  get(name: Name): number {
    return this.#numbers[this.#indexOf(name)]!;
  }
}
