// Bodies as they are read: what JSON.parse would let pass is a problem with its path.
import { expect, test } from 'vitest';
import { readJsonBody } from '../../api/json-body.ts';

const read = (text: string) => readJsonBody(new TextEncoder().encode(text));
const lines = (text: string) => {
  const body = read(text);
  if (body.kind === 'none') return ['none'];
  if (body.kind === 'unreadable') return [body.problem.reason];
  return body.problems.map(({ path, reason }) => `${path}: ${reason}`);
};

test('a body is as JSON.parse reads it', () => {
  const text =
    ' {"a": [1, {"b": "x,\\"y\\"]}"}, null], "c": {"a": -1.5e3}, "": true, "__proto__": {}} ';
  const body = read(text);
  expect(body).toEqual({ kind: 'value', value: JSON.parse(text), problems: [] });
  expect(Object.keys((body as { value: object }).value)).toContain('__proto__');
  expect(lines('')).toEqual(['none']);
  expect(read('\u{feff}{"a":1}')).toMatchObject({ value: { a: 1 } });
});

test.each([
  ['{"a":1,"a":2}', ['/a: is given twice']],
  ['{"a":{"b":1,"c":[0,{"b":1,"b":2}]},"b":1}', ['/a/c/1/b: is given twice']],
  ['{"a":1,"\\u0061":2}', ['/a: is given twice']],
  ['{"a":1,"b":"a","a":1,"a":3}', ['/a: is given twice', '/a: is given twice']],
  ['[{"a":"a"},{"a":"a","b":["a","a"]}]', []],
  ['{"a/b~":1,"a/b~":2}', ['/a~1b~0: is given twice']],
  ['{"a":"\\ud800"}', ['/a: has half of a character: a surrogate without the other']],
  ['{"\\udc00x":1}', ['/\u{fffd}x: has half of a character: a surrogate without the other']],
  ['{"a":"\\ud83d\\ude00"}', []],
  ['{"a":', ['is not JSON: Unexpected end of JSON input']],
  [
    "{'a':1}",
    ["is not JSON: Expected property name or '}' in JSON at position 1 (line 1 column 2)"],
  ],
  [
    '{"a":1}}',
    ['is not JSON: Unexpected non-whitespace character after JSON at position 7 (line 1 column 8)'],
  ],
  [
    '{"a":1,}',
    ['is not JSON: Expected double-quoted property name in JSON at position 7 (line 1 column 8)'],
  ],
  ['\n{\n"a\u{fe}": 01}', [expect.stringMatching(/^is not JSON: [ -~]+$/)]],
  ['NaN', ['is not JSON: "NaN" is not valid JSON']],
  ['\0', [String.raw`is not JSON: Unexpected token '\u0000', "\u0000" is not valid JSON`]],
  [`{"${'['.repeat(40)}\\"${'{'.repeat(40)}":1}`, []],
  [`${'['.repeat(33)}${']'.repeat(33)}`, ['has more than 32 levels']],
  [`${'['.repeat(100_000)}${']'.repeat(100_000)}`, ['has more than 32 levels']],
  [`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`, ['has more than 32 levels']],
  ['['.repeat(100_000), ['has more than 32 levels']],
])('%.60s has the problems %j', (text, problems) => {
  expect(lines(text)).toEqual(problems);
});

test('bytes that are not UTF-8 are no text', () => {
  const overlong = Uint8Array.from([0x22, 0xc0, 0xaf, 0x22]);
  expect(readJsonBody(overlong)).toMatchObject({ problem: { reason: 'is not UTF-8' } });
});

test('a body of one key many times has as many problems as an answer can list', () => {
  const body = read(`{${Array.from({ length: 150_000 }, () => '"a":1').join(',')}}`);
  expect((body as { problems: readonly unknown[] }).problems).toHaveLength(2048);
});
