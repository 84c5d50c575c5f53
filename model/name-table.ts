// NameTable maps names to values, for few names that are looked up frequently. It compares a name with the name that
// was found last, and skips the lookup in an empty Map: a Map has to intern each new string from a request or a module,
// which costs many times as much as the comparison.

export class NameTable<Value> {
  readonly #values: Map<string, Value>;
  #lastName: string | undefined;
  #lastValue: Value | undefined;

  constructor(values: Iterable<readonly [name: string, value: Value]> = []) {
    this.#values = new Map(values);
  }

  get(name: string): Value | undefined {
    if (name === this.#lastName) return this.#lastValue;
    if (this.#values.size === 0) return undefined;
    const value = this.#values.get(name);
    if (value === undefined) return undefined;
    this.#lastName = name;
    this.#lastValue = value;
    return value;
  }

  values(): Iterable<Value> {
    return this.#values.values();
  }

  /** Adds a value, or replaces it. */
  set(name: string, value: Value): void {
    this.#values.set(name, value);
    this.#lastName = undefined;
  }
}
