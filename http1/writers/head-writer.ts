// Heads as bytes. Whatever a reader would refuse because of its characters is refused here with a TypeError: it is a bug
// of the caller, and written it could split the message.
import type { HttpVersion } from '../messages/heads.ts';

// Regular expressions for a character that is not allowed: they read a text once.
const NOT_IN_TOKEN = /[^!#$%&'*+\-.^_`|~0-9A-Za-z]/;
const NOT_IN_TARGET = /[^!"$-~]/;
const NOT_IN_VALUE = /[^\t -~\u0080-\u00ff]/;
const SPACE = 0x20;

function isToken(text: string): boolean {
  return text !== '' && !NOT_IN_TOKEN.test(text);
}

/** Returns whether a reader would give this value: it has no white space at its ends. */
function isValue(text: string): boolean {
  if (NOT_IN_VALUE.test(text)) return false;
  return text === '' || (text.charCodeAt(0) > SPACE && text.charCodeAt(text.length - 1) > SPACE);
}

/** Encodes a request head with its empty line. `flatFields` is name, value, name, value and so on. */
export function encodeRequestHead(
  method: string,
  path: string,
  version: HttpVersion,
  flatFields: readonly string[],
): Buffer {
  return Buffer.from(requestHeadText(method, path, version, flatFields), 'latin1');
}

/** Returns what `encodeRequestHead` does as text in latin1. */
export function requestHeadText(
  method: string,
  path: string,
  version: HttpVersion,
  flatFields: readonly string[],
): string {
  if (!isToken(method)) throw new TypeError('the method is not a token');
  if (path === '' || NOT_IN_TARGET.test(path))
    throw new TypeError('the request target has a character that is not allowed');
  return encodeFields(`${method} ${path} HTTP/${version}\r\n`, flatFields);
}

/** Encodes a response head of HTTP/1.1 with its empty line. */
export function encodeResponseHead(
  status: number,
  reason: string,
  flatFields: readonly string[],
): Buffer {
  return Buffer.from(responseHeadText(status, reason, flatFields), 'latin1');
}

/** Returns what `encodeResponseHead` does as text in latin1. */
export function responseHeadText(
  status: number,
  reason: string,
  flatFields: readonly string[],
): string {
  if (!Number.isInteger(status) || status < 100 || status > 999)
    throw new TypeError('the status is not a number from 100 to 999');
  if (NOT_IN_VALUE.test(reason))
    throw new TypeError('the reason phrase has a character that is not allowed');
  return encodeFields(`HTTP/1.1 ${status} ${reason}\r\n`, flatFields);
}

/** Returns the first line, the fields and an empty line as text. */
export function encodeFields(firstLine: string, flatFields: readonly string[]): string {
  if (flatFields.length % 2 !== 0) throw new TypeError('a field has no value');
  let text = firstLine;
  for (let at = 0; at < flatFields.length; at += 2) {
    const name = flatFields[at]!;
    const value = flatFields[at + 1]!;
    if (!isToken(name)) throw new TypeError('the name of a field is not a token');
    if (!isValue(value))
      throw new TypeError(`the value of the field ${name} has a character that is not allowed`);
    text += `${name}: ${value}\r\n`;
  }
  return `${text}\r\n`;
}
