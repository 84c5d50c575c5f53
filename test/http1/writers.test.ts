// Heads, chunks and trailers as bytes, and everything that must not be written because it would split a message.
import { describe, expect, test } from 'vitest';
import {
  LAST_CHUNK,
  chunkHead,
  encodeRequestHead,
  encodeResponseHead,
  encodeTrailers,
} from '../../http1/index.ts';

const text = (bytes: Buffer) => bytes.toString('latin1');

test('a request head', () => {
  const head = encodeRequestHead('M-SEARCH', '/a?b', '1.0', ['Host', 'a:1', 'x-EMPTY', '']);
  expect(text(head)).toBe('M-SEARCH /a?b HTTP/1.0\r\nHost: a:1\r\nx-EMPTY: \r\n\r\n');
  expect(text(encodeRequestHead('OPTIONS', '*', '1.1', []))).toBe('OPTIONS * HTTP/1.1\r\n\r\n');
});

test('a response head', () => {
  const head = encodeResponseHead(200, 'Très bien', ['A', '\xff b', 'a', '\t'.trim()]);
  expect(text(head)).toBe('HTTP/1.1 200 Très bien\r\nA: \xff b\r\na: \r\n\r\n');
  expect(text(encodeResponseHead(999, '', []))).toBe('HTTP/1.1 999 \r\n\r\n');
});

test('chunks and trailers', () => {
  expect(text(chunkHead(1))).toBe('1\r\n');
  expect(text(chunkHead(65_536))).toBe('10000\r\n');
  expect(text(chunkHead(Number.MAX_SAFE_INTEGER))).toBe('1fffffffffffff\r\n');
  expect(text(LAST_CHUNK)).toBe('0\r\n\r\n');
  expect(encodeTrailers([])).toEqual(LAST_CHUNK);
  expect(text(encodeTrailers(['A', 'b', 'A', 'c']))).toBe('0\r\nA: b\r\nA: c\r\n\r\n');
});

test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])(
  'a chunk of %d bytes is refused',
  (length) => expect(() => chunkHead(length)).toThrow(RangeError),
);

/** Texts that would end a line, or that a recipient may take for one that does. */
const SPLITTING = [
  '\r',
  '\n',
  '\r\nA: b',
  '\0',
  '\u010d',
  '\u010a',
  '\u2028',
  '\x7f',
  '\x0b',
  '\x1b',
];

describe.each(SPLITTING.map((one) => [JSON.stringify(one), one] as const))('%s', (_, one) => {
  test.each([
    ['in a method', () => encodeRequestHead(`GET${one}`, '/', '1.1', [])],
    ['in a target', () => encodeRequestHead('GET', `/${one}`, '1.1', [])],
    ['in a reason', () => encodeResponseHead(200, `O${one}K`, [])],
    ['in a name', () => encodeResponseHead(200, 'OK', [`A${one}B`, 'c'])],
    ['in a value', () => encodeResponseHead(200, 'OK', ['A', `b${one}c`])],
    ['at the end of a value', () => encodeRequestHead('GET', '/', '1.1', ['A', `b${one}`])],
    ['at the beginning of a value', () => encodeRequestHead('GET', '/', '1.1', ['A', `${one}b`])],
    ['as a value', () => encodeTrailers(['A', one])],
    ['as a name', () => encodeTrailers([one, 'a'])],
  ])('%s is refused', (_where, encode) => expect(encode).toThrow(TypeError));
});

test.each([
  ['an empty method', () => encodeRequestHead('', '/', '1.1', [])],
  ['a space in a method', () => encodeRequestHead('GET /', '/', '1.1', [])],
  ['an empty target', () => encodeRequestHead('GET', '', '1.1', [])],
  ['a space in a target', () => encodeRequestHead('GET', '/ HTTP/1.1', '1.1', [])],
  ['a fragment', () => encodeRequestHead('GET', '/#a', '1.1', [])],
  ['bytes above 0x7f in a target', () => encodeRequestHead('GET', '/\xe9', '1.1', [])],
  ['an empty name', () => encodeTrailers(['', 'a'])],
  ['a colon in a name', () => encodeTrailers(['A:', 'a'])],
  ['a space in a name', () => encodeTrailers(['A ', 'a'])],
  ['bytes above 0x7f in a name', () => encodeTrailers(['\xe9', 'a'])],
  ['a space before a value', () => encodeTrailers(['A', ' a'])],
  ['a tab after a value', () => encodeTrailers(['A', 'a\t'])],
  ['a value of white space', () => encodeTrailers(['A', ' '])],
  ['characters beyond latin1', () => encodeTrailers(['A', '\u0100'])],
  ['a name without a value', () => encodeTrailers(['A'])],
  ['a status below 100', () => encodeResponseHead(99, '', [])],
  ['a status above 999', () => encodeResponseHead(1000, '', [])],
  ['a status that is no integer', () => encodeResponseHead(200.5, '', [])],
])('%s is refused', (_, encode) => expect(encode).toThrow(TypeError));
