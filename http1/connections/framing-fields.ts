// The fields of a head that its connection owns: Connection, Transfer-Encoding and Content-Length. A caller may give
// Content-Length if it says what the framing says.
import type { Framing } from '../messages/framing.ts';
import { isSameName } from '../messages/field-list.ts';

/**
 * Role of a Content-Length: it is the length of the body; it describes another body (in a response to HEAD, or a 304); or it
 * is not allowed and is removed (1xx and 204, RFC 9110, section 8.6).
 */
export type LengthRole = 'own' | 'described' | 'forbidden';

/** Returns fields with those that the framing demands, and `more`, those of the connection. */
export function framedFields(
  flat: readonly string[],
  framing: Framing,
  role: LengthRole,
  more: readonly string[],
): readonly string[] {
  const lengthAt = checkedLength(flat, framing, role);
  const given =
    role === 'forbidden' && lengthAt !== -1
      ? flat.filter((_, at) => !isSameName(flat[at - (at % 2)]!, 'content-length'))
      : flat;
  const added: string[] = [];
  if (framing.kind === 'chunked') added.push('Transfer-Encoding', 'chunked');
  if (framing.kind === 'length' && lengthAt === -1)
    added.push('Content-Length', `${framing.bytes}`);
  return added.length + more.length === 0 ? given : [...given, ...added, ...more];
}

/** Returns the index of Content-Length, or -1. Throws a TypeError if the fields contradict the framing. */
function checkedLength(flat: readonly string[], framing: Framing, role: LengthRole): number {
  let lengthAt = -1;
  for (let at = 0; at < flat.length; at += 2) {
    const name = flat[at]!;
    switch (name.length) {
      case 10:
        if (isSameName(name, 'connection'))
          throw new TypeError('the connection writes the field Connection');
        break;
      case 14:
        if (!isSameName(name, 'content-length')) break;
        if (lengthAt !== -1) throw new TypeError('Content-Length is given twice');
        if (
          role === 'own' &&
          !(framing.kind === 'length' && Number(flat[at + 1]) === framing.bytes)
        )
          throw new TypeError('Content-Length is not the length of the body');
        lengthAt = at;
        break;
      case 17:
        if (isSameName(name, 'transfer-encoding'))
          throw new TypeError('the connection writes the field Transfer-Encoding');
        break;
    }
  }
  return lengthAt;
}
