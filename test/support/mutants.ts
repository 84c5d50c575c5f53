// Mutants: for each check of the sandbox a change to the sources that turns it off, and the tests that notice.
// The lists are test/mutants/*.json.
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { testNamePattern } from './test-names.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const FOLDER = join(ROOT, 'test', 'mutants');

export interface Mutant {
  /** The check's name, as docs/reference/sandbox.md has it. */
  readonly check: string;
  readonly file: string;
  /** Occurs once in the file. */
  readonly find: string;
  readonly replace: string;
  /** Test file and the name of a test in it: `group › name`. One of them at least fails. */
  readonly tests: readonly (readonly [file: string, name: string])[];
}

/** The lists by their names, in order. */
export function mutantLists(): ReadonlyMap<string, readonly Mutant[]> {
  return new Map(
    globSync('*.json', { cwd: FOLDER })
      .toSorted()
      .map((file) => [
        basename(file, '.json'),
        JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as readonly Mutant[],
      ]),
  );
}

/** Why a mutant can not be run: what it changes is not there, or its tests are not. */
export function problemsOf(mutant: Mutant): readonly string[] {
  const { check, file, find, replace, tests } = mutant;
  const problems: string[] = [];
  const source = readFileSync(join(ROOT, file), 'utf8');
  const found = source.split(find).length - 1;
  if (found !== 1) problems.push(`${check}: \`${find}\` stands ${found} times in ${file}`);
  if (find === replace) problems.push(`${check}: it changes nothing`);
  if (tests.length === 0) problems.push(`${check}: it names no test`);
  for (const [testFile, name] of tests)
    if (testNamePattern(testFile, name) === undefined)
      problems.push(`${check}: ${testFile} has no test '${name}'`);
  return problems;
}
