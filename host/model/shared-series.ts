// SharedSeries: named numbers in memory that two threads share. One thread writes, the other reads at any time, also
// while the writer is kept busy, and what was counted outlives the writer. Each name is written by one thread at a time.

export class SharedSeries<Name extends string> {
  /** For the other thread. */
  readonly shared: SharedArrayBuffer;
  readonly names: readonly Name[];
  readonly #numbers: Float64Array;
  readonly #places: ReadonlyMap<Name, number>;

  /** `shared`: what another of the same names was made with. */
  constructor(names: readonly Name[], shared?: SharedArrayBuffer) {
    this.names = names;
    this.shared = shared ?? new SharedArrayBuffer(names.length * Float64Array.BYTES_PER_ELEMENT);
    this.#numbers = new Float64Array(this.shared);
    this.#places = new Map(names.map((name, place) => [name, place]));
  }

  /** Where a name's number lies, for who writes it often. */
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
