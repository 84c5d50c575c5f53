// SafeName: the alphabet of names that a module exports and imports. The names appear in logs, messages and
// tables of the host; a name that could be mistaken for something else is refused first of all.
import { SvcError } from '@svc/kit/svc-error';
import { printable } from '../binary/printable.ts';

/** Maximum length in bytes; in the alphabet a byte is a character. */
export const NAME_BYTES_MAX = 200;
/** Punctuation that the component tools use in names. */
const PUNCTUATION = '-_:/@.#[]';
const SAFE = new Uint8Array(128);
for (const character of 'abcdefghijklmnopqrstuvwxyz') {
  SAFE[character.charCodeAt(0)] = 1;
  SAFE[character.toUpperCase().charCodeAt(0)] = 1;
}
for (const character of `0123456789${PUNCTUATION}`) SAFE[character.charCodeAt(0)] = 1;

function isSafe(name: string): boolean {
  if (name.length === 0 || name.length > NAME_BYTES_MAX) return false;
  for (let index = 0; index < name.length; index++)
    if (SAFE[name.charCodeAt(index)] !== 1) return false;
  return true;
}

/** Checks a name. Throws SVC_MODULE_BAD_NAME. `what`: `imports`, or another verb of the module. */
export function checkName(what: string, name: string): void {
  if (isSafe(name)) return;
  throw new SvcError(
    'SVC_MODULE_BAD_NAME',
    `The module ${what} the name '${printable(name)}'; a name has 1 to ${NAME_BYTES_MAX} letters, ` +
      `digits and ${PUNCTUATION}. Build the module with \`svc build\`.`,
  );
}
