// SafeName: the alphabet of names that a module exports and imports. They end up in logs, messages and
// tables of the host; one that could be taken for something else is refused before anything else is done
// with it.
import { SvcError } from '@svc/kit/svc-error';
import { printable } from '../binary/printable.ts';

/** In bytes, which are characters where the alphabet is kept. */
export const NAME_BYTES_MAX = 200;
/** What the component tools build names of. */
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

/** Throws SVC_MODULE_BAD_NAME. `what`: `imports`, or another verb of the module. */
export function checkName(what: string, name: string): void {
  if (isSafe(name)) return;
  throw new SvcError(
    'SVC_MODULE_BAD_NAME',
    `The module ${what} the name '${printable(name)}'; a name has 1 to ${NAME_BYTES_MAX} letters, ` +
      `digits and ${PUNCTUATION}. Build the module with \`svc build\`.`,
  );
}
