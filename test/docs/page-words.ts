// The rule for the words of pages: retired words in the prose of a Markdown file. Code, addresses of links and the names of
// tests in footnotes are not prose. The functions are pure.
import { COMMENT_WORDS, type RetiredWord } from '../architecture/retired-words.ts';

/** Words that are retired in prose, beside those that are retired in comments. */
const PROSE_WORDS: readonly RetiredWord[] = [
  {
    word: /\b(?:a|its|that|the|their|whose) place\b/i,
    instead: 'position, path, line, "instead of"',
  },
  { word: /\bwhoever\b/i, instead: 'the caller, the operator, anybody who' },
  { word: /\bas who\b/i, instead: 'as the operator' },
  { word: /\banew\b/i, instead: 'again' },
  { word: /\bunder way\b/i, instead: 'in progress, in flight' },
  { word: /\b(?:be|been|being|gets?|got) told\b/i, instead: 'get, receive, report' },
  { word: /\bmending\b/i, instead: 'fix' },
  { word: /\b(?:earlier|later|next|present|that) life\b|\blives\b/i, instead: 'incarnation' },
  { word: /\bgo(?:es)? on\b/i, instead: 'continue' },
];

export interface PageException {
  /** A page, or a folder of pages. */
  readonly path: string;
  readonly reason: string;
}

/** Pages that the rule does not apply to. */
export const EXCEPTIONS: readonly PageException[] = [
  { path: 'CHANGELOG.md', reason: 'its lines are history' },
  { path: 'docs/reference/sandbox-checks.md', reason: 'it is made of names of tests' },
];

/** A line `page:line: 'found'; use instead` for each retired word in the prose of a page. */
export function retiredWordsInPage(page: string, text: string): string[] {
  const prose = proseOf(text);
  return [...COMMENT_WORDS, ...PROSE_WORDS]
    .flatMap(({ word, instead }) =>
      [...prose.matchAll(new RegExp(word, 'gi'))].map(({ 0: found, index }) => ({
        line: prose.slice(0, index).split('\n').length,
        found,
        instead,
      })),
    )
    .toSorted((one, other) => one.line - other.line)
    .map(({ line, found, instead }) => `${page}:${line}: '${found}'; use ${instead}`);
}

/** Returns whether an exception names the page or a folder that it is in. */
export function isExcepted(page: string): boolean {
  return EXCEPTIONS.some(({ path }) => page === path || page.startsWith(`${path}/`));
}

/** The text with everything that is not prose replaced by empty lines of the same number. */
function proseOf(text: string): string {
  return text.replaceAll(
    /^```[\s\S]*?^```$|`[^`]*`|^\[\^[^\]]+\]: .*(?:\n {2}.*)*|\]\([^)]*\)/gm,
    (code) => '\n'.repeat(code.split('\n').length - 1),
  );
}
