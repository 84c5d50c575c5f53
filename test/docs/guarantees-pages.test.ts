// The pages of guarantees in docs/reference/: each sentence that promises names tests that exist, and one that also holds with the journal
// in PostgreSQL names one that runs there.
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, test } from 'vitest';
import { footnotes, footnotesIn, promises } from '../support/promise-page.ts';
import { testNamePattern } from '../support/test-names.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const REFERENCE = join(ROOT, 'docs', 'reference');
/** Promises that no test has to show on PostgreSQL, and why. */
const NOT_ON_POSTGRES: Readonly<Record<string, string>> = {
  'consumer-timer': 'the time of a timer is computed before a journal is asked',
  'view-disk': 'rows in PostgreSQL are on the disk of its server',
};
/** A service in standby waits for a data folder; nodes of a database replace each other as the section about several nodes says. */
const OF_A_FOLDER = /^standby-/;

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

test('each promise that holds with the journal in PostgreSQL names a test that runs there', () => {
  const page = readFileSync(join(REFERENCE, 'guarantees.md'), 'utf8');
  const onPostgres = filesOnPostgres();
  const missing = footnotes(page)
    .filter(({ name }) => !OF_A_FOLDER.test(name))
    .filter(({ tests }) => !tests.some(([file]) => onPostgres.has(file)))
    .map(({ name }) => name);
  expect(missing.toSorted()).toEqual(Object.keys(NOT_ON_POSTGRES).toSorted());
});

/** The files with tests on a real server, and the suites that such a file runs. */
function filesOnPostgres(): ReadonlySet<string> {
  const files = globSync('test/**/*.test.ts', { cwd: ROOT });
  return new Set(
    files.flatMap((file) => {
      const text = readFileSync(join(ROOT, file), 'utf8');
      const imported = [...text.matchAll(/from '(\.[^']+)'/g)].map(([, path]) =>
        normalize(join(dirname(file), path!)),
      );
      const isOnServer = imported.some((path) =>
        /^test\/support\/(?:postgres|cluster-faults)\//.test(path),
      );
      return isOnServer
        ? [file, ...imported.filter((path) => path.startsWith('test/suites/'))]
        : [];
    }),
  );
}
