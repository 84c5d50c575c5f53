// A module's text in the message of a failed test.
import { expect, test } from 'vitest';
import { shown } from '../../../guest-sdk/testing/test-failure.ts';

test('text of a module keeps its lines, and shows what would steer a terminal or not be seen', () => {
  expect(shown('a\n\tb\u001b\u202e\u200b\u3164\ufe0f\u{e0100}\u2800 ä 🎉')).toBe(
    String.raw`a${'\n\t'}b\u{1b}\u{202e}\u{200b}\u{3164}\u{fe0f}\u{e0100}\u{2800} ä 🎉`,
  );
});

test('half a character at a cut is no character', () => {
  expect(shown('ab🎉', 3)).toBe('ab\ufffd…');
});
