// Pages have none of the words that the project no longer uses.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { EXCEPTIONS, isExcepted, retiredWordsInPage } from './page-words.ts';

const root = join(import.meta.dirname, '..', '..');
const pages = globSync('**/*.md', {
  cwd: root,
  exclude: ['**/node_modules/**', 'build/**'],
}).toSorted();
const foundIn = (page: string) => retiredWordsInPage(page, readFileSync(join(root, page), 'utf8'));

describe('a retired word', () => {
  test('is found in prose, with its line', () => {
    expect(retiredWordsInPage('a.md', '# A\n\nThe caller\nis told why.\n')).toEqual([
      "a.md:4: 'is told'; use report, send, receive",
    ]);
  });

  test('is not looked for in code, links and names of tests', () => {
    const text = [
      '```sh\necho places\n```\n',
      'A `place of a record`, [a link](places.md).\n',
      '[^a]: `a.test.ts` › is told again;',
      '  `b.test.ts` › is told.\n',
    ];
    expect(retiredWordsInPage('a.md', text.join('\n'))).toEqual([]);
  });
});

test('there are pages', () => {
  expect(pages.length).toBeGreaterThan(100);
});

test.each(pages.filter((page) => !isExcepted(page)))('%s has no retired words', (page) => {
  expect(foundIn(page)).toEqual([]);
});

test.each(EXCEPTIONS)('$path is excepted: $reason', ({ path }) => {
  expect(pages.filter((page) => page === path || page.startsWith(`${path}/`))).not.toEqual([]);
});
