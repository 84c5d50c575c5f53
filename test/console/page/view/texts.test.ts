// Numbers, times and texts from outside, as they are displayed.
import { describe, expect, test } from 'vitest';
import {
  amountText,
  bytesText,
  countText,
  durationText,
} from '../../../../console/page/view/number-text.ts';
import { agoText, clockText, preciseClockText } from '../../../../console/page/view/time-text.ts';
import { cutText, visibleLine, visibleText } from '../../../../console/page/view/visible-text.ts';

describe('numbers', () => {
  test.each([
    [0, '0 µs'],
    [0.0213, '21.3 µs'],
    [0.9999, '1.00 ms'],
    [12.41, '12.4 ms'],
    [999.4, '999 ms'],
    [999.6, '1.00 s'],
    [59_990, '60.0 s'],
    [61_000, '1 min 1 s'],
    [7_260_000, '2 h 1 min'],
    [90_000_000, '1 d 1 h'],
  ])('%d ms are %s', (ms, text) => {
    expect(durationText(ms)).toBe(text);
  });

  test('counts are grouped, bytes have a unit', () => {
    expect([0, 999, 1000, 1_234_567].map(countText)).toEqual(['0', '999', '1,000', '1,234,567']);
    expect([0, 999, 1240, 23_412_992].map(bytesText)).toEqual([
      '0 B',
      '999 B',
      '1.24 kB',
      '23.4 MB',
    ]);
    expect([amountText(1, 'entry', 'entries'), amountText(2, 'entry', 'entries')]).toEqual([
      '1 entry',
      '2 entries',
    ]);
  });
});

describe('moments', () => {
  const noon = new Date(2026, 10, 22, 12, 3, 4, 56).getTime();

  test('of today have no date', () => {
    expect(clockText(noon, noon)).toBe('12:03:04');
    expect(preciseClockText(noon, noon)).toBe('12:03:04.056');
    expect(clockText(noon, noon + 86_400_000)).toBe('2026-11-22 12:03:04');
  });

  test('that are none are shown as they are', () => {
    expect(clockText('soon', noon)).toBe('soon');
    expect(preciseClockText('soon', noon)).toBe('soon');
  });

  test('are so long ago', () => {
    expect(agoText(noon, noon)).toBe('just now');
    expect(agoText(noon, noon + 182_000)).toBe('3 min 2 s ago');
  });
});

describe('a foreign text', () => {
  test('shows what would not be seen, or would turn the writing round', () => {
    expect(visibleText('a\u001b[31mb\u202ec\u200bd\ud800')).toBe(
      String.raw`a\u{1b}[31mb\u{202e}c\u{200b}d\u{d800}`,
    );
    expect(visibleText('a\u3164b\ufe0fc\u2800d\u{e0100}')).toBe(
      String.raw`a\u{3164}b\u{fe0f}c\u{2800}d\u{e0100}`,
    );
  });

  test.each([0x3164, 0x115f, 0xffa0, 0x034f, 0xfe0f, 0xe0100, 0x2800, 0x00ad])(
    'shows a code point that is drawn as nothing: %i',
    (point) => {
      expect(visibleText(`a${String.fromCodePoint(point)}`)).toBe(`a\\u{${point.toString(16)}}`);
    },
  );

  test('keeps its lines, or has one', () => {
    expect(visibleText('a\n\tb')).toBe('a\n\tb');
    expect(visibleLine('a\n\tb')).toBe(String.raw`a\n\tb`);
  });

  test('keeps letters of every writing, and signs beyond 16 bits', () => {
    expect(visibleText('Ä 東京 العربية 🙂')).toBe('Ä 東京 العربية 🙂');
  });

  test('is cut where it is long', () => {
    expect(cutText('x'.repeat(20_000))).toHaveLength(20_000);
    expect(cutText('x'.repeat(20_001))).toHaveLength(20_001);
    expect(cutText('x'.repeat(90_000)).endsWith('x…')).toBe(true);
  });
});
