// RepeatedTexts: a cache of the short strings that a module has passed recently. A module passes most strings
// again with every call (names of components, commands and headers, a small answer). Comparing the units in
// its memory with an existing string costs a fraction of creating the string.
//
// Invariant: a returned string has exactly the requested units. Which strings are cached affects time only,
// and the cache belongs to one instance.

/** Maximum length in units; longer strings are rarely repeated. */
export const REPEATED_UNITS_MAX = 64;

/** Number of slots, a power of two. */
const SLOTS = 64;

export class RepeatedTexts {
  readonly #texts: string[] = Array.from({ length: SLOTS }, () => '');

  /**
   * Returns the cached string of the `count` units (1 to REPEATED_UNITS_MAX) from `start` on, if there is one.
   * `units`: Latin-1 bytes, or UTF-16 units.
   */
  find(units: Uint8Array | Uint16Array, start: number, count: number): string | undefined {
    const text = this.#texts[slotOf(units[start]!, units[start + count - 1]!, count)]!;
    if (text.length !== count) return undefined;
    for (let index = 0; index < count; index++)
      if (text.charCodeAt(index) !== units[start + index]) return undefined;
    return text;
  }

  /** Caches a string of 1 to REPEATED_UNITS_MAX units; it replaces the one in its slot. */
  keep(text: string): void {
    const { length } = text;
    this.#texts[slotOf(text.charCodeAt(0), text.charCodeAt(length - 1), length)] = text;
  }
}

function slotOf(first: number, last: number, count: number): number {
  return (first + last * 5 + count * 13) & (SLOTS - 1);
}
