// The pages of guarantees in docs/reference/: each sentence that promises names tests that exist.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { footnotes, footnotesIn, promises } from '../support/promise-page.ts';
import { testNamePattern } from '../support/test-names.ts';

const REFERENCE = join(import.meta.dirname, '..', '..', 'docs', 'reference');

describe.each([
  ['guarantees.md', 15],
  ['proxy-guarantees.md', 30],
  ['control-plane-guarantees.md', 30],
  ['webhook-guarantees.md', 15],
])('%s', (name, moreThan) => {
  const page = readFileSync(join(REFERENCE, name), 'utf8');
  const known = footnotes(page);

  test('each promise names what holds it', () => {
    const found = promises(page);
    expect(found.length).toBeGreaterThan(moreThan);
    expect(found.filter((text) => footnotesIn(text).length === 0)).toEqual([]);
  });

  test('each name leads to a footnote, each footnote is used, and its tests exist', () => {
    expect(new Set(known.map((note) => note.name))).toEqual(new Set(footnotesIn(page)));
    const lost = known.flatMap((note) =>
      note.tests
        .filter(([file, title]) => title === '' || testNamePattern(file, title) === undefined)
        .map(([file, title]) => `${note.name}: ${file} › ${title}`),
    );
    expect(lost).toEqual([]);
  });
});
