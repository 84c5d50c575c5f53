// Which line of a program's output says best why the program has ended.
import { expect, test } from 'vitest';
import { LastWords } from '../../kit/last-words.ts';

function lastWords(...lines: readonly string[]): string | undefined {
  const words = new LastWords();
  for (const line of lines) words.take(line);
  return words.line;
}

test('the last line that has text is the last word', () => {
  expect(lastWords('a', '  b', '', '  ')).toBe('b');
  expect(lastWords('', ' ')).toBeUndefined();
  expect(lastWords('Error: caught', 'stopping')).toBe('stopping');
});

test.each([
  ['a stack', ['throw new Error()', '^', '', 'Error: no database', '    at a.js:1:2', '']],
  ['fields', ['Error: no database', '    at a.js:1:2 {', "  code: 'E'", '}', '']],
  ['an older error', ['TypeError: caught', 'serves', 'Error: no database', '    at a.js:1:2']],
])('of an error that has ended Node, it is the error: with %s', (_what, lines) => {
  expect(lastWords(...lines, 'Node.js v26.10.0')).toBe('Error: no database');
});

test('without an error, it is the line before what Node writes last', () => {
  expect(lastWords('"thrown text"', '', 'Node.js v26.10.0')).toBe('"thrown text"');
});
