// Escapes a module's text for a message of admission. A name may look like another one, so only ASCII is
// printed as it is.
import { escapedCharacter } from '@svc/contract/harmful-character';

/** Keeps printable ASCII, writes every other character as `\u{…}`, and cuts a long text with `…`. */
export function printable(text: string, lengthMax = 120): string {
  let result = '';
  for (const character of text) {
    if (result.length >= lengthMax) return `${result}…`;
    const code = character.codePointAt(0)!;
    if (character === '\\') result += '\\\\';
    else if (code >= 0x20 && code < 0x7f) result += character;
    else result += escapedCharacter(character);
  }
  return result;
}
