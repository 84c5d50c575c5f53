// Configuration files in YAML and JSON: what they say, and what is refused.
import { expect, test, vi } from 'vitest';
import { readDocument } from '../../../host/configuration/configuration-document.ts';

function read(text: string): unknown {
  const document = readDocument(text);
  return 'values' in document ? Object.fromEntries(document.values) : document.problems;
}

test.each([
  ['', {}],
  ['# nothing\n', {}],
  ['a: yes\nb: "0.50"\nc: 7\nd: ~\n', { a: 'yes', b: '0.50', c: 7, d: null }],
  ['{\n\t"a": 1,\n\t"b": [1,\n\t2]\n}', { a: 1, b: [1, 2] }],
  ['a:\n  - x: 1\n', { a: [{ x: 1 }] }],
  ['a: 123456789012345678901\n', { a: '123456789012345678901' }],
  ['a: [12345678901234567890, 1]', { a: ['12345678901234567890', 1] }],
  ['\ufeffa: 1', { a: 1 }],
  ['1: a\nnull: b', { 1: 'a', null: 'b' }],
  ['%YAML 1.1\n---\na: yes\n<<: {b: 1}', { a: 'yes', '<<': { b: 1 } }],
])('%j is read', (text, values) => {
  expect(read(text)).toEqual(values);
});

const bomb = ['a0: &a0 [x, x, x]'];
for (let level = 1; level < 30; level++)
  bomb.push(
    `a${level}: &a${level} [${Array(9)
      .fill(`*a${level - 1}`)
      .join(', ')}]`,
  );

test.each([
  ['a: 1\na: 2', 'line 2, column 1: a name is given twice'],
  ['{"a": 1, "a": 2}', 'line 1, column 10: a name is given twice'],
  ['a:\n\tb: 1', 'line 2, column 1: a tab indents the line; use spaces'],
  ['a: &x [1]\nb: *x', 'it has aliases'],
  ['a: &x\n  - *x', 'it has aliases'],
  [bomb.join('\n'), 'it has aliases'],
  ['a: !secret x', 'line 1, column 4: it is no YAML (TAG_RESOLVE_FAILED)'],
  ['a: !!binary aGk=', 'line 1, column 4: it is no YAML (TAG_RESOLVE_FAILED)'],
  ['%YAML 1.1\n---\na: !!set {x}', 'line 3, column 4: it is no YAML (TAG_RESOLVE_FAILED)'],
  ['a: 1\n---\nb: 2', 'line 2, column 1: a second document begins'],
  ['- a', 'it has to be a map of names and values'],
  ['text', 'it has to be a map of names and values'],
  ['a: "open', 'line 1, column 9: a character is missing, such as a quote or a bracket'],
])('%.40j is refused', (text, problem) => {
  expect(read(text)).toEqual([problem]);
});

test('a document that nests deep is refused at once, with at most 20 problems', () => {
  const problems = read('['.repeat(100_000)) as readonly string[];
  expect(problems.length).toBeGreaterThan(0);
  expect(problems.length).toBeLessThanOrEqual(20);
});

test('no problem quotes the file', () => {
  const secret = 'sk_live_hidden';
  for (const text of [`a: ${secret}: x`, `a: "${secret}`, secret, `a: !${secret} x`])
    expect(JSON.stringify(read(text))).not.toContain(secret);
});

test('a name that is a collection is refused, and nothing prints it', () => {
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  try {
    const problem = 'line 1, column 5: a name is no text, as in a template that was not filled in';
    expect(read('a: {{ sk_live_hidden }}')).toEqual([problem]);
    expect(read('? [sk_live_hidden]\n: 1')).toMatchObject([expect.stringContaining('no text')]);
    expect(warn).not.toHaveBeenCalled();
  } finally {
    warn.mockRestore();
  }
});
