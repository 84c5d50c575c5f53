// SearchTurns: when tenants may search names with expressions, each of which takes a few milliseconds at most.
//
// Invariants
// U1  One turn begins in each turn of the event loop, so that everything else goes on between two of them.
// U2  Tenants have their turns one after the other, however many searches one of them has.

export class SearchTurns {
  /** Searches that wait, by tenant, in the order of the tenants' turns. */
  readonly #waiting = new Map<string, (() => void)[]>();

  /** Resolves when a search of the tenant may go on. */
  next(tenantId: string): Promise<void> {
    return new Promise((resolve) => {
      const searches = this.#waiting.get(tenantId);
      if (searches !== undefined) searches.push(resolve);
      else this.#waiting.set(tenantId, [resolve]);
      if (searches === undefined && this.#waiting.size === 1) setImmediate(this.#begin);
    });
  }

  readonly #begin = (): void => {
    const [first] = this.#waiting;
    if (first === undefined) return;
    const [tenantId, searches] = first;
    const begin = searches.shift()!;
    this.#waiting.delete(tenantId);
    if (searches.length > 0) this.#waiting.set(tenantId, searches);
    begin();
    if (this.#waiting.size > 0) setImmediate(this.#begin);
  };
}
