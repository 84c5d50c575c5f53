// NamePattern: the regular expression of a filter, in the syntax of RE2, which is searched anywhere in a name.
//
// Invariants
// N1  A search takes at most as many steps as the program has instructions times the characters of the name, whatever the expression is.
// N2  An expression keeps no memory between searches that depends on the names. (`test` of re2js would keep states, up to 8 MiB.)
import { RE2JS, RE2JSException } from 're2js';
import { DATASET_WORD_LENGTH_MAX, charactersOf, quoted } from '@svc/client';
import { PATTERN_LENGTH_MAX, PATTERN_PROGRAM_MAX } from './subscription-limits.ts';

/** UTF-16 units at the beginning of a name that are searched: those of the longest name. */
export const SEARCHED_MAX = 2 * DATASET_WORD_LENGTH_MAX;

export class NamePattern {
  readonly #compiled: RE2JS;

  /** `text`: one without a problem. */
  constructor(text: string) {
    this.#compiled = RE2JS.compile(text);
  }

  /** Instructions of its program, which say what a search costs for each character. */
  get size(): number {
    return this.#compiled.programSize();
  }

  isFoundIn(name: string): boolean {
    const searched = name.length > SEARCHED_MAX ? name.slice(0, SEARCHED_MAX) : name;
    return this.#compiled.matcher(searched).find();
  }
}

/** Returns why a text is no pattern that a filter may have; undefined for a valid one. */
export function patternProblem(text: string): string | undefined {
  if (charactersOf(text) > PATTERN_LENGTH_MAX)
    return `is longer than ${PATTERN_LENGTH_MAX} characters`;
  let size: number;
  try {
    size = new NamePattern(text).size;
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    return `is no regular expression of RE2, which has no lookahead and no backreferences: ${quoted(error.message)}`;
  }
  return size > PATTERN_PROGRAM_MAX
    ? `is too large: it repeats so much that it becomes ${size} instructions, of which it may have ${PATTERN_PROGRAM_MAX}`
    : undefined;
}
