import { expect, test } from 'vitest';
import { escapeControls } from '../../host/log.ts';

test.each([
  ['a plain line', 'a plain line'],
  ['red \u001b[31m', String.raw`red \u{1b}[31m`],
  ['two\r\nlines', String.raw`two\u{d}\u{a}lines`],
  ['c1 \u009b2J', String.raw`c1 \u{9b}2J`],
  ['reversed \u202e', String.raw`reversed \u{202e}`],
  ['half \ud800', 'half \ufffd'],
  ['ä 漢 🎉', 'ä 漢 🎉'],
])('text for a terminal is escaped: %j', (text, escaped) => {
  expect(escapeControls(text)).toBe(escaped);
});
