// Printable: escapes text of a module, a caller or a file for a log, a terminal or a report. Harmful
// characters are printed by their number, and nothing else is changed.
import { HARMFUL_CHARACTERS, escapedCharacter } from '@svc/contract/harmful-character';

/** Escapes text for one line; each harmful character becomes `\u{…}`. */
export function printable(text: string): string {
  return text.replaceAll(HARMFUL_CHARACTERS, escapedCharacter);
}

/** Escapes harmful characters of JSON text, which stays the same JSON; line feeds between its parts stay. */
export function printableJson(json: string): string {
  return json.replaceAll(HARMFUL_CHARACTERS, (character) => {
    if (character === '\n') return character;
    let units = '';
    for (let index = 0; index < character.length; index++)
      units += String.raw`\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`;
    return units;
  });
}
