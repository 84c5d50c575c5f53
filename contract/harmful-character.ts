// HarmfulCharacter: the characters of foreign text (of a module, a caller, a file) that no program prints as
// they are: controls (C0, DEL, C1), line separators, lone surrogates, format characters (those that change
// the direction of text, the byte order mark, tags), and other characters without a width: all that Unicode
// lets a renderer ignore (fillers, variation selectors, the grapheme joiner), and the empty Braille pattern.

/** Matches a harmful character. Use it with `replaceAll`, which leaves no state in the global expression. */
export const HARMFUL_CHARACTERS =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** Returns the escaped form of a harmful character: `\u{200b}`. */
export function escapedCharacter(character: string): string {
  return String.raw`\u{${character.codePointAt(0)!.toString(16)}}`;
}
