// Heads as bytes. Whatever a reader would refuse because of its characters is refused here with a TypeError: it is a bug
// of the caller, and written it could split the message.
import type { HttpVersion } from '../messages/heads.ts';

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const TARGET = /^[!"$-~]+$/;
const VALUE = /^(?:[!-~\u0080-\u00ff](?:[\t -~\u0080-\u00ff]*[!-~\u0080-\u00ff])?)?$/;
const REASON = /^[\t -~\u0080-\u00ff]*$/;

/** Encodes a request head with its empty line. `flatFields` is name, value, name, value and so on. */
export function encodeRequestHead(
  method: string,
  path: string,
  version: HttpVersion,
  flatFields: readonly string[],
): Buffer {
  if (!TOKEN.test(method)) throw new TypeError('the method is not a token');
  if (!TARGET.test(path))
    throw new TypeError('the request target has a character that is not allowed');
  return Buffer.from(encodeFields(`${method} ${path} HTTP/${version}\r\n`, flatFields), 'latin1');
}

/** Encodes a response head of HTTP/1.1 with its empty line. */
export function encodeResponseHead(
  status: number,
  reason: string,
  flatFields: readonly string[],
): Buffer {
  if (!Number.isInteger(status) || status < 100 || status > 999)
    throw new TypeError('the status is not a number from 100 to 999');
  if (!REASON.test(reason))
    throw new TypeError('the reason phrase has a character that is not allowed');
  return Buffer.from(encodeFields(`HTTP/1.1 ${status} ${reason}\r\n`, flatFields), 'latin1');
}

/** Returns the first line, the fields and an empty line as text. */
export function encodeFields(firstLine: string, flatFields: readonly string[]): string {
  if (flatFields.length % 2 !== 0) throw new TypeError('a field has no value');
  let text = firstLine;
  for (let at = 0; at < flatFields.length; at += 2) {
    const name = flatFields[at]!;
    const value = flatFields[at + 1]!;
    if (!TOKEN.test(name)) throw new TypeError('the name of a field is not a token');
    if (!VALUE.test(value))
      throw new TypeError(`the value of the field ${name} has a character that is not allowed`);
    text += `${name}: ${value}\r\n`;
  }
  return `${text}\r\n`;
}
