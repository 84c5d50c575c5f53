import { expect, test } from 'vitest';
import { fitsUtf8, utf8Bytes } from '../../../host/engine/text-size.ts';

const texts = ['', 'a', 'ä', '€', '😀', '\ud800', 'a😀b€cäd', 'x'.repeat(1_000), '€'.repeat(333)];

test.each(texts)('the size of %j is what its encoding takes', (text) => {
  expect(utf8Bytes(text.toWellFormed(), 1_000_000)).toBe(Buffer.byteLength(text));
});

test.each(texts)('%j fits into its size, and not into one byte less', (text) => {
  const size = Buffer.byteLength(text.toWellFormed());
  expect(fitsUtf8(text.toWellFormed(), size)).toBe(true);
  expect(fitsUtf8(text.toWellFormed(), size - 1)).toBe(false);
});
