// docs/reference/proxy-guarantees.md: each guarantee names tests that exist.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { footnotes, footnotesIn, promises } from '../support/promise-page.ts';
import { testNamePattern } from '../support/test-names.ts';

const PAGE = join(import.meta.dirname, '..', '..', 'docs', 'reference', 'proxy-guarantees.md');
const page = readFileSync(PAGE, 'utf8');
const known = footnotes(page);

test('each row names what holds it', () => {
  const found = promises(page);
  expect(found.length).toBeGreaterThan(30);
  expect(found.filter((text) => footnotesIn(text).length === 0)).toEqual([]);
});

test('each name leads to a footnote, each footnote is used, and its tests exist', () => {
  expect(new Set(known.map(({ name }) => name))).toEqual(new Set(footnotesIn(page)));
  const lost = known.flatMap(({ name, tests }) =>
    tests
      .filter(([file, title]) => title === '' || testNamePattern(file, title) === undefined)
      .map(([file, title]) => `${name}: ${file} › ${title}`),
  );
  expect(lost).toEqual([]);
});
