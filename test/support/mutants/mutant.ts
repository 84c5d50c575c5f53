// Mutant: one check of the sandbox or of durability, the change to the sources that turns it off, and the tests that
// notice. The rows are test/mutants/*.json. A row names a function and an expression or statement in it rather than a
// file and its text (docs/decisions/0021-mutants-by-function-and-expression.md).
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parsePattern } from './source-pattern.ts';

export const ROOT = join(import.meta.dirname, '..', '..', '..');
const FOLDER = join(ROOT, 'test', 'mutants');

export interface Mutant {
  /** The name of the check, unique among all rows. */
  readonly check: string;
  /** End of the path of the source file. Needed only without `in`, or when `in` and `at` match in several files. */
  readonly file?: string;
  /** Top-level function, constant or class, or `Class.member`. Left out: any place in `file`. */
  readonly in?: string;
  /**
   * The expression, statement, property or `case` that changes, compared by its syntax tree; `_` matches anything.
   * Left out: the whole of `in`.
   */
  readonly at?: string;
  readonly mutation: Mutation;
  /**
   * `FILE › TEST`: the end of the path of a test file without `.test.ts`, and the name of a test or a part of it. At
   * least one of the tests fails.
   */
  readonly tests: readonly string[];
}

export type Mutation =
  | 'remove'
  | 'true'
  | 'false'
  | { readonly replaceBy: string }
  /** Replaces a text that stands once in what `at` found: for SQL, and for a part of something long. */
  | { readonly replaceText: string; readonly by: string };

const KEYS = new Set(['check', 'file', 'in', 'at', 'mutation', 'tests']);

/** Reads the lists by area. A row that is malformed is returned as it is: `malformations` says what is wrong. */
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

/** Says what is wrong with a row by itself, without a look at the sources. */
export function malformations(row: Mutant): readonly string[] {
  const problems: string[] = [];
  const name = typeof row.check === 'string' && row.check !== '' ? row.check : 'a row without name';
  const claim = (holds: boolean, what: string) => {
    if (!holds) problems.push(`${name}: ${what}`);
  };
  claim(name === row.check, '`check` is missing');
  for (const key of Object.keys(row)) claim(KEYS.has(key), `\`${key}\` is no key of a row`);
  claim(isTextOrAbsent(row.file) && isTextOrAbsent(row.in), '`file` and `in` are text');
  claim(row.file !== undefined || row.in !== undefined, 'it needs `in` or `file`');
  const tests: unknown = row.tests;
  claim(Array.isArray(tests) && tests.length > 0, 'it names no test');
  for (const test of Array.isArray(tests) ? (tests as unknown[]) : [])
    claim(
      typeof test === 'string' && test.includes(' › '),
      `${String(test)} is not \`FILE › TEST\``,
    );
  const pattern = typeof row.at === 'string' ? parsePattern(row.at) : undefined;
  if (row.at !== undefined)
    claim(pattern !== undefined, '`at` is no expression, statement, property or `case`');
  else claim(row.in !== undefined, 'it needs `at` or `in`');
  claim(
    isMutation(row.mutation),
    '`mutation` is none of remove, true, false, replaceBy, replaceText',
  );
  if (row.mutation === 'true' || row.mutation === 'false')
    claim(pattern?.kind === 'expression', `only an expression becomes ${row.mutation}`);
  return problems;
}

function isTextOrAbsent(value: unknown): boolean {
  return value === undefined || (typeof value === 'string' && value !== '');
}

function isMutation(value: unknown): value is Mutation {
  if (value === 'remove' || value === 'true' || value === 'false') return true;
  if (typeof value !== 'object' || value === null) return false;
  const keys = Object.keys(value).toSorted().join(' ');
  return (
    (keys === 'replaceBy' || keys === 'by replaceText') &&
    Object.values(value).every((text) => typeof text === 'string')
  );
}
