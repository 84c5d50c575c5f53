// TestNames: whether a test file holds a test of a name, by its text: lists and pages name tests, and a test
// that was renamed must not leave them behind.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');
/** `describe` and `test`, with or without `each`, to the title in quotes. */
const TITLE =
  /\b(?:describe|test|it)(?:\.(?:each|skipIf|runIf)\b[\s\S]*?\)|\.\w+)*\(\s*(?:'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`)/g;
/** As a table's: the name, and what is run. */
const TABLE_TITLE =
  /[\])]\(\s*(?:'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`),/g;
const PLACEHOLDER = /%[sdifjo]|%#|\$\{[^}]*\}|\$\w+/;
const CORPUS = 'test/hostile/corpus-';
const BARE = /^(?:%s|\$\w+)$/;
const texts = new Map<string, TestText>();

interface TestText {
  readonly source: string;
  readonly titles: readonly string[];
}

/**
 * Of `a group › a name`: the regular expression source that the test runner finds it by. Undefined: there is
 * no such test. A part of a name will do, and what stands where a title has a placeholder is not looked at.
 */
export function testNamePattern(file: string, name: string): string | undefined {
  if (!existsSync(join(ROOT, file))) return undefined;
  const { source, titles } = textOf(file);
  const parts = name.split(/ [›>] /);
  const isThere = (part: string) =>
    titles.some((title) => title.includes(part) || fits(title, part)) ||
    // A case of a table, by what stands in its row.
    (titles.some((title) => PLACEHOLDER.test(title)) && isQuoted(source, part));
  return parts.every(isThere) ? parts.map(patternOf).join('.*') : undefined;
}

function textOf(file: string): TestText {
  const known = texts.get(file);
  if (known !== undefined) return known;
  const source = readFileSync(join(ROOT, file), 'utf8') + corpusOf(file);
  const matches = [...source.matchAll(TITLE), ...source.matchAll(TABLE_TITLE)];
  const titles = matches.map((match) =>
    (match[1] ?? match[2] ?? match[3])!.replaceAll(/\\(['"`\\])/g, '$1'),
  );
  texts.set(file, { source, titles });
  return { source, titles };
}

/** The cases of the corpus are named in files of their own. */
function corpusOf(file: string): string {
  if (!file.startsWith(CORPUS)) return '';
  return globSync('fixtures/hostile/families/*.ts', { cwd: ROOT })
    .map((family) => readFileSync(join(ROOT, family), 'utf8'))
    .join('\n');
}

function isQuoted(source: string, part: string): boolean {
  return new RegExp(`['"\`][^'"\`\\n]*${escaped(part)}[^'"\`\\n]*['"\`]`).test(source);
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
