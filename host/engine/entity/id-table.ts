// IdTable is a map from entity ids to values. With every call a module passes the id as a new string. A Map has to intern such
// a string before the lookup, which costs many times as much as the lookup itself. So the table is a Map of hash codes, which
// are computed here.
//
// Invariant: several ids with the same hash code are in a Map of their own. A caller who chooses colliding ids makes a
// lookup at most as slow as that of a Map.

/** The values of ids with the same hash code. */
type Colliding<Value> = Map<string, Value>;

interface Entry<Value> {
  readonly id: string;
  readonly value: Value;
}

export class IdTable<Value> {
  /** Indexed by hash code. */
  readonly #entries = new Map<number, Entry<Value> | Colliding<Value>>();

  get(id: string): Value | undefined {
    const entry = this.#entries.get(numberOf(id));
    if (entry === undefined) return undefined;
    if (entry instanceof Map) return entry.get(id);
    return entry.id === id ? entry.value : undefined;
  }

  /** Iterates over the values, in no particular order. Values may be deleted meanwhile. */
  *values(): Generator<Value> {
    for (const entry of this.#entries.values())
      if (entry instanceof Map) yield* entry.values();
      else yield entry.value;
  }

  /** Adds a value, or replaces it. */
  set(id: string, value: Value): void {
    const number = numberOf(id);
    const entry = this.#entries.get(number);
    if (entry instanceof Map) entry.set(id, value);
    else if (entry === undefined || entry.id === id) this.#entries.set(number, { id, value });
    else
      this.#entries.set(
        number,
        new Map([
          [entry.id, entry.value],
          [id, value],
        ]),
      );
  }

  delete(id: string): void {
    const number = numberOf(id);
    const entry = this.#entries.get(number);
    if (entry instanceof Map) {
      entry.delete(id);
      if (entry.size === 0) this.#entries.delete(number);
    } else if (entry?.id === id) this.#entries.delete(number);
  }
}

/** Returns a hash code of 31 bits: V8 stores such numbers without allocating memory. */
function numberOf(id: string): number {
  let hash = id.length;
  for (let index = 0; index < id.length; index++)
    hash = Math.imul(hash ^ id.charCodeAt(index), 0x0100_0193);
  return hash >>> 1;
}
