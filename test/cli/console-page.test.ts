// When svc console builds its page in a checkout, which depends on file times, in a folder that looks like a
// checkout.
import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isPageStale } from '../../cli/console-page.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const BUILT = 'console/public/index.html';
const SOURCE = 'console/page/screens/trace.tsx';
const FOLDERS = ['console/page', 'console/page/screens', 'console/public', 'scripts'];
/** Seconds since 1970. */
const [BEFORE, BUILD, AFTER] = [1_000, 2_000, 3_000];

function checkout() {
  const folder = temporaryFolder();
  for (const name of FOLDERS) mkdirSync(join(folder, name), { recursive: true });
  const touch = (name: string, at: number) => utimesSync(join(folder, name), at, at);
  const files = [BUILT, SOURCE, 'scripts/console-page.ts'];
  for (const name of files) writeFileSync(join(folder, name), '');
  for (const name of [...FOLDERS, ...files]) touch(name, BEFORE);
  touch(BUILT, BUILD);
  return { folder, touch };
}

describe('the page', () => {
  test('that is newer than all that it is built of is left as it is', () => {
    const { folder, touch } = checkout();
    expect(isPageStale(folder)).toBe(false);
    // A file that the page is not built from.
    touch('scripts', AFTER);
    touch('console/public', AFTER);
    expect(isPageStale(folder)).toBe(false);
  });

  test('that is not there is built', () => {
    const { folder } = checkout();
    rmSync(join(folder, BUILT));
    expect(isPageStale(folder)).toBe(true);
  });

  test.each([
    ['a source', SOURCE],
    ['how it is built', 'scripts/console-page.ts'],
    ['what there is in a folder', 'console/page/screens'],
    ['what there is', 'console/page'],
  ])('is built again when %s has changed since', (_what, name) => {
    const { folder, touch } = checkout();
    touch(name, AFTER);
    expect(isPageStale(folder)).toBe(true);
  });
});
