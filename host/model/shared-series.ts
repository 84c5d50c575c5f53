// SharedSeries: named numbers in memory that two threads share. One thread writes; the other may read at any time,
// even while the writer is busy. The numbers survive the end of the writer. Each number is written by one thread at a
// time.

export class SharedSeries<Name extends string> {
  /** Memory to create the other thread's series with. */
  readonly shared: SharedArrayBuffer;
  readonly names: readonly Name[];
  readonly #numbers: Float64Array;
  readonly #places: ReadonlyMap<Name, number>;

  /** `shared`: memory of another series with the same names. */
  constructor(names: readonly Name[], shared?: SharedArrayBuffer) {
    this.names = names;
    this.shared = shared ?? new SharedArrayBuffer(names.length * Float64Array.BYTES_PER_ELEMENT);
    this.#numbers = new Float64Array(this.shared);
    this.#places = new Map(names.map((name, place) => [name, place]));
  }

  /** Returns the index of a name, for callers that write it often. */
  place(name: Name): number {
    return this.#places.get(name)!;
  }

  add(name: Name, amount = 1): void {
    this.#numbers[this.place(name)]! += amount;
  }

  set(name: Name, value: number): void {
    this.#numbers[this.place(name)] = value;
  }

  get(name: Name): number {
    return this.#numbers[this.place(name)]!;
  }

  addAt(place: number, amount: number): void {
    this.#numbers[place]! += amount;
  }
}
