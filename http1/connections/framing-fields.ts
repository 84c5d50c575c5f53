// The fields of a head that its connection owns: Connection, Transfer-Encoding and Content-Length. A caller may give
// Content-Length only if it says what the framing says.
import type { Framing } from '../messages/framing.ts';

/**
 * Returns fields with those that the framing demands. `describes`: the message has no body, and a Content-Length that was
 * given describes another one (a response to HEAD, a 304). `closes`: the connection is closed after the message.
 */
export function framedFields(
  flat: readonly string[],
  framing: Framing,
  describes: boolean,
  closes: boolean,
): readonly string[] {
  const hasLength = checkedLength(flat, framing, describes);
  const added: string[] = [];
  if (framing.kind === 'chunked') added.push('Transfer-Encoding', 'chunked');
  if (framing.kind === 'length' && !hasLength) added.push('Content-Length', `${framing.bytes}`);
  if (closes) added.push('Connection', 'close');
  return added.length === 0 ? flat : [...flat, ...added];
}

/** Returns whether a Content-Length was given. Throws a TypeError if the fields contradict the framing. */
function checkedLength(flat: readonly string[], framing: Framing, describes: boolean): boolean {
  let hasLength = false;
  for (let at = 0; at < flat.length; at += 2) {
    const name = flat[at]!;
    switch (name.length) {
      case 10:
        if (name.toLowerCase() === 'connection')
          throw new TypeError('the connection writes the field Connection');
        break;
      case 14:
        if (name.toLowerCase() !== 'content-length') break;
        if (hasLength) throw new TypeError('Content-Length is given twice');
        if (!describes && !(framing.kind === 'length' && flat[at + 1] === `${framing.bytes}`))
          throw new TypeError('Content-Length is not the length of the body');
        hasLength = true;
        break;
      case 17:
        if (name.toLowerCase() === 'transfer-encoding')
          throw new TypeError('the connection writes the field Transfer-Encoding');
        break;
    }
  }
  return hasLength;
}
