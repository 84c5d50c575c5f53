// IdTable: values by entity id, of which there are many and which come fresh from a module with every call.
// A Map has to intern such a string before it can look for it, which costs many times what the looking does;
// so a Map of numbers is asked, which are made of the ids here.
//
// Invariant: ids whose numbers are the same are in a Map of their own, so whoever chooses ids that meet gains
// nothing but what a Map costs.

type Same<Value> = Map<string, Value>;

interface Entry<Value> {
  readonly id: string;
  readonly value: Value;
}

export class IdTable<Value> {
  readonly #entries = new Map<number, Entry<Value> | Same<Value>>();

  get(id: string): Value | undefined {
    const entry = this.#entries.get(numberOf(id));
    if (entry === undefined) return undefined;
    if (entry instanceof Map) return entry.get(id);
    return entry.id === id ? entry.value : undefined;
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

/** Of 31 bits: such numbers are kept without memory of their own. */
function numberOf(id: string): number {
  let hash = id.length;
  for (let index = 0; index < id.length; index++)
    hash = Math.imul(hash ^ id.charCodeAt(index), 0x0100_0193);
  return hash >>> 1;
}
