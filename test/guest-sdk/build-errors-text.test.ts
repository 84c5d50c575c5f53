// The text of a problem: location, line, mark and help, for any content of the author's file.
import { expect, test } from 'vitest';
import { BuildError, problemText } from '../../guest-sdk/compiler/build-error.ts';

const problem = {
  file: 'assembly/cart.ts',
  line: 12,
  column: 7,
  sourceLine: 'class Carts {}',
  length: 5,
  message: "endpoint 'Carts' has no access rule",
  help: 'say who may call',
};

const at = (file: string, line: number, column: number) => ({
  file,
  line,
  column,
  message: '',
});

test('location, message, the line with a mark under what is meant, and what to do', () => {
  expect(problemText(problem))
    .toBe(`assembly/cart.ts:12:7: error: endpoint 'Carts' has no access rule
  12 | class Carts {}
     |       ^^^^^
help: say who may call`);
});

test('without a location, with several lines of help, as a warning', () => {
  const text = problemText({ message: 'nothing', help: 'add:\na();', severity: 'warning' });
  expect(text).toBe('warning: nothing\nhelp: add:\n      a();');
});

test('a terminal may colour the parts', () => {
  const text = problemText(problem, (part, words) => `<${part}>${words}</>`);
  expect(text.split('\n')).toEqual([
    "<location>assembly/cart.ts:12:7:</> <error>error:</> endpoint 'Carts' has no access rule",
    '  12 | class Carts {}',
    '     |       <mark>^^^^^</>',
    '<help>help:</> say who may call',
  ]);
});

test('a long line is shown in part, around the location', () => {
  const sourceLine = `${'a'.repeat(300)}bad${'c'.repeat(300)}`;
  const text = problemText({ ...problem, sourceLine, column: 301, length: 3 }).split('\n');
  expect(text[1]).toBe(`  12 | ${'a'.repeat(40)}bad${'c'.repeat(77)}`);
  expect(text[2]).toBe(`     | ${' '.repeat(40)}^^^`);
});

test.each([
  ['const a = "世界"; bad', 18],
  ['const a = "😀"; bad', 16],
  ['const a = "e\u0301"; bad', 15],
  ['\tconst a = 1; bad', 14],
])('the mark stands under what is meant, as a terminal shows it: %s', (sourceLine, columns) => {
  const column = sourceLine.indexOf('bad') + 1;
  const text = problemText({ ...problem, sourceLine, column, length: 3 }).split('\n');
  expect(text[2]).toBe(`     | ${' '.repeat(columns)}^^^`);
});

test('characters that steer a terminal, turn the text around or are not seen are written out', () => {
  const text = problemText({
    ...problem,
    file: 'a\u001b[31m.ts',
    sourceLine: '\tclass \u202eX {}',
    column: 8,
    length: 2,
    message: 'name \u0007\u2066\u3164\ufe0f\u2800',
  });
  expect(text).toContain(
    'a\\u{1b}[31m.ts:12:8: error: name \\u{7}\\u{2066}\\u{3164}\\u{fe0f}\\u{2800}',
  );
  expect(text).toContain('\n  12 |  class \\u{202e}X {}\n     |        ^^^^^^^^^\n');
});

test('problems stand by file, line and column; what has no location comes last', () => {
  const error = new BuildError([
    { message: 'of the whole' },
    at('b.ts', 1, 1),
    at('a.ts', 10, 1),
    at('a.ts', 2, 9),
    at('a.ts', 2, 1),
  ]);
  expect(error.problems.map(({ file, line, column }) => [file, line, column])).toEqual([
    ['a.ts', 2, 1],
    ['a.ts', 2, 9],
    ['a.ts', 10, 1],
    ['b.ts', 1, 1],
    [undefined, undefined, undefined],
  ]);
});
