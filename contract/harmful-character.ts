// HarmfulCharacter: which characters of foreign text (of a module, a caller, a file) no program shows as they are:
// controls (C0, DEL, C1), line separators, lone surrogates, format characters (those that turn the direction of
// text, the byte order mark, tags), and whatever else has no width by itself: all that Unicode lets a renderer
// ignore (fillers, variation selectors, the grapheme joiner), and the empty Braille pattern.

/** Matches each of them: for `replaceAll`. It has no state of its own between calls of that. */
export const HARMFUL_CHARACTERS =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** The form in which such a character is shown: `\u{200b}`. */
export function escapedCharacter(character: string): string {
  return String.raw`\u{${character.codePointAt(0)!.toString(16)}}`;
}
