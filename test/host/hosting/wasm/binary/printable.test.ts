// Text of a module in a message can neither control a terminal nor fill it.
import { expect, test } from 'vitest';
import { printable } from '../../../../../host/hosting/wasm/binary/printable.ts';

test.each([
  ['plain text, with blanks', 'plain text, with blanks'],
  ['\u001B[31mred', '\\u{1b}[31mred'],
  ['line\r\nline\u2028', 'line\\u{d}\\u{a}line\\u{2028}'],
  ['back\\slash', 'back\\\\slash'],
  ['\u202Eright to left', '\\u{202e}right to left'],
  ['half \uD800', 'half \\u{d800}'],
  ['\u{1F600}', '\\u{1f600}'],
])('%j becomes printable ASCII', (text, expected) => {
  expect(printable(text)).toBe(expected);
});

test('what is too long is cut', () => {
  expect(printable('x'.repeat(1000), 10)).toBe(`${'x'.repeat(10)}…`);
  expect(printable('x'.repeat(10), 10)).toBe('x'.repeat(10));
});
