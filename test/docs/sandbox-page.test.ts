// docs/reference/sandbox.md: each sentence that promises names tests that exist, its limits are the settings as
// they are, and it leads to the page of the checks.
import { expect, test } from 'vitest';
import { SECTION_DEFAULTS, SECTION_RANGES } from '../../host/service/section-settings.ts';
import { dottedName } from '../../kit/setting-name.ts';
import { LIMIT_NAMES } from '../../model/limit-name.ts';
import {
  footnotes,
  footnotesIn,
  generatedPromisePage,
  promisePage,
  promises,
} from '../support/promise-page.ts';
import { testNamePattern } from '../support/test-names.ts';

const page = promisePage();
const known = footnotes(page);

test('each bullet and each row names what holds it', () => {
  const found = promises(page);
  expect(found.length).toBeGreaterThan(60);
  expect(found.filter((text) => footnotesIn(text).length === 0)).toEqual([]);
});

test('each name leads to a footnote, and each footnote is used', () => {
  const used = new Set(footnotesIn(page));
  const names = known.map(({ name }) => name);
  expect([...used].filter((name) => !names.includes(name))).toEqual([]);
  expect(names.filter((name) => !used.has(name))).toEqual([]);
});

test('each footnote names tests that exist', () => {
  const lost = known.flatMap(({ name, tests }) =>
    tests
      .filter(([file, title]) => title === '' || testNamePattern(file, title) === undefined)
      .map(([file, title]) => `${name}: ${file} › ${title}`),
  );
  expect(lost).toEqual([]);
});

const SETTINGS = (['wasm', 'engine', 'http', 'journal', 'log', 'supervisor'] as const).flatMap(
  (room) =>
    Object.entries(SECTION_DEFAULTS[room]).map(([key, value]) => {
      const ranges: Readonly<Record<string, readonly [number, number]>> = SECTION_RANGES[room];
      return { room, name: dottedName(room, key), value, range: ranges[key]! };
    }),
);
const shown = (value: number) =>
  value === Number.MAX_SAFE_INTEGER ? '2⁵³' : value.toLocaleString('en-US');

test('each limit that is on the page has the default and the range that the settings have', () => {
  const rows = page.split('\n').filter((line) => line.startsWith('| `svc.'));
  expect(rows.length).toBeGreaterThan(40);
  const wrong = rows.filter((row) => {
    const [, name, standard, range] = row.split('|').map((cell) => cell.trim());
    const setting = SETTINGS.find((one) => `\`${one.name}\`` === name);
    if (setting === undefined) return true;
    const [min, max] = setting.range;
    return standard !== shown(setting.value) || range !== `${shown(min)} to ${shown(max)}`;
  });
  expect(wrong).toEqual([]);
});

test('every setting of the sandbox is on the page', () => {
  const missing = SETTINGS.filter(({ room }) => room !== 'http').filter(
    ({ name }) => !page.includes(`\n| \`${name}\` |`),
  );
  expect(missing.map(({ name }) => name)).toEqual([]);
});

test('every limit that a fault can name is on the page', () => {
  expect(LIMIT_NAMES.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});

test('the page is as `npm run generate` writes it, and leads to the page of the checks', () => {
  expect(page).toBe(generatedPromisePage());
  expect(page).toContain('(sandbox-checks.md)');
});
