import { expect, test } from 'vitest';
import { quoted } from '../../../host/engine/quoted.ts';

test.each([
  ['cart', "'cart'"],
  ['Zürich 😀', "'Zürich 😀'"],
  ['\u001b[31m', "'\\u{1b}[31m'"],
  ['a\r\nb', "'a\\u{d}\\u{a}b'"],
  ['\u009b', "'\\u{9b}'"],
  ['\u2028\u202e\u200b\ufeff', "'\\u{2028}\\u{202e}\\u{200b}\\u{feff}'"],
  ['\ud800', "'\\u{d800}'"],
])('%j is shown as %s', (text, shown) => {
  expect(quoted(text)).toBe(shown);
});

test('a long text is cut off', () => {
  expect(quoted('x'.repeat(100_000))).toBe(`'${'x'.repeat(200)}…'`);
});
