// RepeatedTexts: the short strings that a module has passed of late. Most of what it passes it passes again
// with every call (names of components, commands and headers, a small answer), and to see that the units in
// its memory are those of a string that is there costs a fraction of making that string anew.
//
// Invariant: what is answered has exactly the units that were asked for; which strings are kept shows in time
// only, and they are those of one instance.

/** Longer strings are rarely the same again. */
export const REPEATED_UNITS_MAX = 64;

/** A power of two. */
const SLOTS = 64;

export class RepeatedTexts {
  readonly #texts: string[] = Array.from({ length: SLOTS }, () => '');

  /**
   * The string of the `count` units (1 to REPEATED_UNITS_MAX) from `start` on, if it was kept. `units`: bytes
   * that are Latin-1, or UTF-16 units.
   */
  find(units: Uint8Array | Uint16Array, start: number, count: number): string | undefined {
    const text = this.#texts[slotOf(units[start]!, units[start + count - 1]!, count)]!;
    if (text.length !== count) return undefined;
    for (let index = 0; index < count; index++)
      if (text.charCodeAt(index) !== units[start + index]) return undefined;
    return text;
  }

  /** Keeps a string of 1 to REPEATED_UNITS_MAX units, in the place of another. */
  keep(text: string): void {
    const { length } = text;
    this.#texts[slotOf(text.charCodeAt(0), text.charCodeAt(length - 1), length)] = text;
  }
}

function slotOf(first: number, last: number, count: number): number {
  return (first + last * 5 + count * 13) & (SLOTS - 1);
}
