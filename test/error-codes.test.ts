// Holds the list of error codes against the pages that explain them, both ways.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SVC_ERROR_CODES } from '../kit/svc-error.ts';

const folder = join(import.meta.dirname, '..', 'docs', 'errors');

test('every error code has a page in docs/errors, and every page a code', () => {
  const pages = readdirSync(folder).filter((file) => file !== 'README.md');
  expect(pages.toSorted()).toEqual(SVC_ERROR_CODES.map((code) => `${code}.md`).toSorted());
});

test.each(SVC_ERROR_CODES)('the page of %s names the code and says what to do', (code) => {
  const page = readFileSync(join(folder, `${code}.md`), 'utf8');
  expect(page.split('\n')[0]).toBe(`# ${code}`);
  expect(page).toMatch(/^## What to do$/m);
});
