// docs/how-to/bearer-tokens.md: its code is code of the tests, and its settings have their defaults.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { AUTH_DEFAULTS } from '../../tokens/auth-section.ts';
import { filesWith, snippetsOf } from '../support/doc-snippets.ts';

const PAGE = 'docs/how-to/bearer-tokens.md';
const page = readFileSync(join(import.meta.dirname, '../..', PAGE), 'utf8');

test('each snippet is in a file that tests run', () => {
  const snippets = snippetsOf(PAGE, 'ts');
  expect(snippets.length).toBeGreaterThan(3);
  const lost = snippets.filter(
    ({ code }) =>
      filesWith(code, [
        'fixtures/bearer/assembly/index.ts',
        'test/guest-sdk/testing/principals.test.ts',
      ]).length === 0,
  );
  expect(lost).toEqual([]);
});

test('known keys stay good for as long as the page says', () => {
  const shown = AUTH_DEFAULTS.staleKeysMs.toLocaleString('en-US');
  expect(page).toContain(`| \`svc.auth.stale-keys-ms\` | ${shown} |`);
});
