// NameSearches: what the searches of a tenant's expressions in names have found last. A report is matched when it is taken, and again when its
// deliveries are opened.
//
// Invariant: its size is bounded by the number of names, and by the expressions of the tenant.

/** Names whose results are kept. */
const NAMES_MAX = 16;

export class NameSearches {
  /** Results by name, the oldest first, and then by expression. */
  readonly #names = new Map<string, Map<string, boolean>>();

  find(name: string, nameRegex: string): boolean | undefined {
    return this.#names.get(name)?.get(nameRegex);
  }

  keep(name: string, nameRegex: string, isFound: boolean): void {
    const results = this.#names.get(name) ?? new Map<string, boolean>();
    results.set(nameRegex, isFound);
    this.#names.set(name, results);
    if (this.#names.size <= NAMES_MAX) return;
    const [oldest] = this.#names.keys();
    this.#names.delete(oldest!);
  }
}
