// What the how-to pages show is run: each snippet is a part of a file under test.
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { filesWith, snippetsOf } from './support/doc-snippets.ts';

const root = join(import.meta.dirname, '..');
/** Where what runs lies. */
const SOURCES = ['test/**/*.ts', 'examples/**/*.ts', 'fixtures/**/*.ts', 'cli/template/**/*.ts'];

const pages = globSync('docs/how-to/*.md', { cwd: root });
const snippets = pages.flatMap((page) => snippetsOf(page, 'ts'));

test('there are snippets to look for', () => {
  expect(pages).toContain(join('docs', 'how-to', 'testing.md'));
  expect(snippets.length).toBeGreaterThan(5);
});

describe('the snippet at', () => {
  test.each(snippets)('$place is a part of a file that runs', ({ code }) => {
    expect(filesWith(code, SOURCES)).not.toEqual([]);
  });
});
