// The lines of an output that are new since the answer before.
import { describe, expect, test } from 'vitest';
import { NewLines } from '../../../cli/platform/new-lines.ts';

function taken(...outputs: readonly string[]): readonly (readonly string[])[] {
  const lines = new NewLines();
  return outputs.map((output) => lines.take(output));
}

describe('an answer', () => {
  test.each([
    ['that begins where the last one ended', ['a\nb\n', 'c\n'], [['a', 'b'], ['c']]],
    ['that overlaps', ['a\nb\nc\n', 'b\nc\nd\n'], [['a', 'b', 'c'], ['d']]],
    ['that has nothing new', ['a\nb\n', 'a\nb\n', ''], [['a', 'b'], [], []]],
    ['that has more before what is known', ['b\n', 'x\na\nb\nc\n'], [['b'], ['c']]],
    [
      'with lines that repeat, which are taken for known',
      ['t\nt\n', 't\nt\nt\n'],
      [['t', 't'], []],
    ],
    ['with empty lines and ends of Windows', ['\n\n', '\n\na\r\n'], [['', ''], ['a']]],
  ])('%s', (_what, outputs, expected) => {
    expect(taken(...outputs)).toEqual(expected);
  });

  test('with a line without its end is completed by the next one, or taken as it is', () => {
    expect(taken('a\nhal', 'a\nhalf\n')).toEqual([['a'], ['half']]);
    expect(taken('a\nhalf', 'a\nhalf', 'a\nhalf')).toEqual([['a'], ['half'], []]);
  });

  test('of many equal lines is compared in bounded time', () => {
    const many = 'x\n'.repeat(100_000);
    expect(taken(many, `y\n${many}z\n`).map(({ length }) => length)).toEqual([100_000, 1]);
  });
});
