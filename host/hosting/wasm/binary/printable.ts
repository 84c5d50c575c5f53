// Text of a module made fit for a message of admission. A name may look like another one, so nothing
// but ASCII is shown as it is.
import { escapedCharacter } from '@svc/contract/harmful-character';

/** Printable ASCII stays, everything else becomes `\u{…}`, and what is too long is cut with `…`. */
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
