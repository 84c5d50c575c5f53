// TestNames: whether a test file holds a test of a name, by its syntax tree: lists and pages name tests, and a test
// that was renamed must not leave them behind.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { FAMILIES } from '../../fixtures/hostile/families.ts';
import { SourceFile } from './source-file.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const PLACEHOLDER = /%[sdifjo]|%#|\$\{[^}]*\}|\$\w+/;
const CORPUS = 'test/hostile/corpus-';
const BARE = /^(?:%s|\$\w+)$/;
const files = new Map<string, TestText>();

interface TestText {
  /** Titles of groups and tests; an expression in one is `${…}`. */
  readonly titles: readonly string[];
  /** Every text of the file, and the names of the cases of the corpus where they are run. */
  readonly texts: readonly string[];
}

/**
 * Of `a group › a name`: the regular expression source that the test runner finds it by. Undefined: there is
 * no such test. A part of a name will do, and what stands where a title has a placeholder is not looked at.
 */
export function testNamePattern(file: string, name: string): string | undefined {
  if (!existsSync(join(ROOT, file))) return undefined;
  const { titles, texts } = textOf(file);
  const parts = name.split(/ [›>] /);
  const isThere = (part: string) =>
    titles.some((title) => title.includes(part) || fits(title, part)) ||
    // A case of a table, by what stands in its row.
    (titles.some((title) => PLACEHOLDER.test(title)) && texts.some((text) => text.includes(part)));
  return parts.every(isThere) ? parts.map(patternOf).join('.*') : undefined;
}

function textOf(file: string): TestText {
  const known = files.get(file);
  if (known !== undefined) return known;
  const source = SourceFile.read(file);
  const text = { titles: source.testTitles, texts: [...source.texts, ...corpusOf(file)] };
  files.set(file, text);
  return text;
}

/** The cases of the corpus are named in files of their own. */
function corpusOf(file: string): readonly string[] {
  if (!file.startsWith(CORPUS)) return [];
  return FAMILIES.flatMap(({ name, cases }) => [name, ...cases.map((one) => one.name)]);
}

/** Whether a title with placeholders has this among its names. */
function fits(title: string, part: string): boolean {
  if (!PLACEHOLDER.test(title) || BARE.test(title)) return false;
  const literals = title.split(new RegExp(PLACEHOLDER, 'g'));
  if (new RegExp(`^${literals.map(escaped).join('.*')}$`).test(part)) return true;
  const [first, last] = [literals[0]!, literals.at(-1)];
  return (
    (first.length > 3 && part.startsWith(first)) ||
    (last !== undefined && last.length > 3 && part.endsWith(last))
  );
}

/** What a placeholder stands for is not known here. */
function patternOf(part: string): string {
  return part.split(new RegExp(PLACEHOLDER, 'g')).map(escaped).join('.*');
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}
