// OutputLines: lines at any split of the bytes, and the bound on a line.
import { expect, test } from 'vitest';
import { LINE_UNITS_MAX, OutputLines } from '../../../kit/command/output-lines.ts';

function linesOf(bytes: Buffer, chunkBytes: number): string[] {
  const found: string[] = [];
  const lines = new OutputLines((line) => found.push(line));
  for (let at = 0; at < bytes.length; at += chunkBytes)
    lines.push(bytes.subarray(at, at + chunkBytes));
  lines.end();
  return found;
}

test.each([1, 2, 3, 5, 1000])('lines are the same in chunks of %i bytes', (chunkBytes) => {
  const bytes = Buffer.from('one\r\n\nzwei: ä€😀\n\tlast, without an end');
  expect(linesOf(bytes, chunkBytes)).toEqual(['one', '', 'zwei: ä€😀', '\tlast, without an end']);
});

test('a line that is too long comes in parts, none of which divides a character', () => {
  const text = `${'x'.repeat(LINE_UNITS_MAX - 1)}😀${'y'.repeat(2 * LINE_UNITS_MAX)}`;
  const found = linesOf(Buffer.from(`${text}\nnext\n`), 1000);
  expect(found.slice(0, -1).join('')).toBe(text);
  expect(found.at(-1)).toBe('next');
  for (const line of found) {
    expect(line.length).toBeLessThanOrEqual(LINE_UNITS_MAX);
    expect(line.isWellFormed()).toBe(true);
  }
});

test('bytes that are no UTF-8 are replaced', () => {
  expect(linesOf(Buffer.from([0x61, 0xff, 0xc3]), 1)).toEqual(['a\ufffd\ufffd']);
});
