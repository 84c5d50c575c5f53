// Nothing that steers a terminal, hides in a line or turns it around is shown as it is.
import { expect, test } from 'vitest';
import { printable, printableJson } from '../../kit/printable.ts';

test.each([
  ['a plain line', 'a plain line'],
  ['ä 漢 🎉 =', 'ä 漢 🎉 ='],
  ['red \u001b[31m', String.raw`red \u{1b}[31m`],
  ['two\r\nlines\0', String.raw`two\u{d}\u{a}lines\u{0}`],
  ['rubbed out \u007f', String.raw`rubbed out \u{7f}`],
  ['c1 \u009b2J', String.raw`c1 \u{9b}2J`],
  ['separated \u2028\u2029', String.raw`separated \u{2028}\u{2029}`],
  ['reversed \u202e\u2067\u061c', String.raw`reversed \u{202e}\u{2067}\u{61c}`],
  [
    'no width \u200b\u200d\u2060\ufeff\u00ad',
    String.raw`no width \u{200b}\u{200d}\u{2060}\u{feff}\u{ad}`,
  ],
  [
    'fillers \u3164\u115f\u1160\uffa0\u17b4',
    String.raw`fillers \u{3164}\u{115f}\u{1160}\u{ffa0}\u{17b4}`,
  ],
  [
    'joined and varied \u034f\ufe0f\u{e0100}\u180b',
    String.raw`joined and varied \u{34f}\u{fe0f}\u{e0100}\u{180b}`,
  ],
  ['empty Braille \u2800⠁', String.raw`empty Braille \u{2800}⠁`],
  ['reserved \u{e0fff}\u2065', String.raw`reserved \u{e0fff}\u{2065}`],
  ['annotated \ufff9\u0600', String.raw`annotated \u{fff9}\u{600}`],
  ['a tag \u{e0041}', String.raw`a tag \u{e0041}`],
  ['half \ud800', String.raw`half \u{d800}`],
])('%j is shown as %s', (text, shown) => {
  expect(printable(text)).toBe(shown);
});

test('JSON stays the same JSON, and shows no harmful character', () => {
  const value = {
    'a\u202e': [
      '\u001b\u007f\u009b',
      '\u2028\u200b\ufeff',
      '\u{e0041}\ud800',
      '\u3164\u{e0100}\u2800',
      'ä 🎉',
    ],
  };
  const json = JSON.stringify(value, null, 2);
  const shown = printableJson(json);
  expect(JSON.parse(shown)).toEqual(value);
  expect(printable(shown.replaceAll('\n', ''))).toBe(shown.replaceAll('\n', ''));
  expect(shown.split('\n')).toHaveLength(json.split('\n').length);
});
